#include "simulation/file_prints.hpp"

#include <algorithm>

#include "files/file_hash.hpp"

namespace concord {
namespace {

constexpr const char* searched = "not known: the process that opened it has searched for it";

std::vector<std::string> roles_in(const std::vector<FilePrint>& before,
                                  const std::vector<FilePrint>& now) {
  std::vector<std::string> roles;
  for (const auto* prints : {&before, &now}) {
    for (const FilePrint& print : *prints) {
      if (std::find(roles.begin(), roles.end(), print.role) == roles.end()) {
        roles.push_back(print.role);
      }
    }
  }
  return roles;
}

std::vector<FilePrint> with_role(const std::string& role, const std::vector<FilePrint>& prints) {
  std::vector<FilePrint> result;
  std::copy_if(prints.begin(), prints.end(), std::back_inserter(result),
               [&](const FilePrint& print) { return print.role == role; });
  return result;
}

std::string in_words(const FilePrint& print, const char* what) {
  return "the " + print.role + " '" + print.name + "' " + what;
}

}  // namespace

std::vector<FilePrint> prints_of(const Model& model) {
  std::vector<FilePrint> result;
  for (const ModelFile& file : model.files) {
    result.push_back({file.role, file.name.empty() ? file.path : file.name,
                      file.path.empty() ? searched : sha256_of(file.path)});
  }
  return result;
}

/// Of the first role with a difference: the text says what files the others are.
std::string changed_files(const std::vector<FilePrint>& before, const std::vector<FilePrint>& now) {
  for (const std::string& role : roles_in(before, now)) {
    const auto was = with_role(role, before), is = with_role(role, now);
    std::string found;
    const auto add = [&](const std::string& words) {
      found += (found.empty() ? "" : ", ") + words;
    };
    for (std::size_t i = 0; i < std::max(was.size(), is.size()); ++i) {
      if (i >= was.size()) {
        add(in_words(is[i], "was not there"));
      } else if (i >= is.size()) {
        add(in_words(was[i], "is not given any more"));
      } else if (was[i].sha256 != is[i].sha256) {
        add(in_words(is[i], "has changed"));
      }
    }
    if (!found.empty()) {
      return found;
    }
  }
  return "";
}

}  // namespace concord
