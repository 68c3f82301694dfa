#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace concord {

/// Whether the text stands for many names: `*` is any characters, `?` any one.
bool is_pattern(std::string_view text);

/// Whether the pattern stands for the name. Brackets stand for themselves: "cell[*].x".
bool matches(std::string_view pattern, std::string_view name);

/// What commas outside brackets separate, without blanks around: "left.x, right.*, a.y[1,2]".
std::vector<std::string> listed_names(std::string_view list);

/// The names that each of `wanted`, names and patterns, stands for, in the order of `names`, none
/// twice; all where nothing is wanted. Throws InputError for one that stands for nothing: `place`,
/// and the nearest names.
std::vector<std::string> chosen_names(std::span<const std::string> wanted,
                                      std::span<const std::string> names, const std::string& place);

/// "the nearest names are left.x, left.v, right.x", or that there are none.
std::string nearest_names(const std::string& wanted, std::span<const std::string> names);

}  // namespace concord
