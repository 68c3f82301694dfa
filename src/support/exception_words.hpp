#pragma once

#include <exception>
#include <string>

namespace concord {

/// What an exception says of itself, whatever was thrown.
std::string in_words(const std::exception_ptr& thrown);

}  // namespace concord
