#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace concord {

/// Runs `work` in a session on one rank; the others are there because of mpirun. A file beyond the
/// size limit is an error like a full disk.
int on_one_rank(const Arguments& arguments, const std::function<int()>& work);

/// Throws InputError where `output` ends otherwise or is the model itself.
void check_output(const Command& command, const std::filesystem::path& output,
                  const std::string& model, std::initializer_list<const char*> endings);

void print_notes(const std::vector<std::string>& notes);

}  // namespace concord
