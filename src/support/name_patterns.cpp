#include "support/name_patterns.hpp"

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include "concord/errors.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

bool is_pattern(std::string_view text) { return text.find_first_of("*?") != text.npos; }

/// The last `*` takes one character more wherever what follows it does not fit.
bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = pattern.npos, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

std::vector<std::string> listed_names(std::string_view list) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    const char c = i < list.size() ? list[i] : ',';
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (i < list.size() && (c != ',' || depth > 0)) {
      continue;
    }
    if (const auto name = without_blanks(list.substr(begin, i - begin)); !name.empty()) {
      names.emplace_back(name);
    }
    begin = i + 1;
  }
  return names;
}

std::vector<std::string> chosen_names(std::span<const std::string> wanted,
                                      std::span<const std::string> names,
                                      const std::string& place) {
  if (wanted.empty()) {
    return {names.begin(), names.end()};
  }
  std::unordered_set<std::string> chosen;
  for (const std::string& pattern : wanted) {
    bool found = false;
    for (const std::string& name : names) {
      if (name == pattern || matches(pattern, name)) {
        chosen.insert(name);
        found = true;
      }
    }
    if (!found) {
      throw InputError("there is no variable " + in_quotes(pattern) + " in " + place + "; " +
                       nearest_names(pattern, names));
    }
  }
  std::vector<std::string> result;
  std::copy_if(names.begin(), names.end(), std::back_inserter(result),
               [&](const std::string& name) { return chosen.contains(name); });
  return result;
}

std::string nearest_names(const std::string& wanted, std::span<const std::string> names) {
  std::set<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& name : names) {
    ranked.emplace(edit_distance(wanted, name), name);
  }
  std::vector<std::string> nearest;
  for (const auto& [distance, name] : ranked) {
    if (nearest.size() < 3) nearest.push_back(name);
  }
  return nearest.empty() ? "there are none" : "the nearest names are " + joined(nearest);
}

}  // namespace concord
