#pragma once
#include <span>
#include <string>
namespace concord { inline int export_command(std::span<const std::string>) { return 2; } }
