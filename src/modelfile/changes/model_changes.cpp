#include "modelfile/changes/model_changes.hpp"

#include <fstream>
#include <set>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string::npos
             ? ""
             : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// `what` is "subsystem.name".
ModelChange change(const std::string& what, const std::string& text, const std::string& location) {
  const std::string path = trimmed(what);
  const std::size_t dot = path.find('.');
  const std::string value = trimmed(text);
  if (dot == std::string::npos || dot == 0 || dot + 1 == path.size() || value.empty()) {
    throw InputError(location +
                     ": must read subsystem.name=value, or parameters.name=value for a parameter "
                     "of the whole model");
  }
  return {path.substr(0, dot), path.substr(dot + 1), value, location};
}

}  // namespace

ModelChanges read_changes(std::span<const std::string> words) {
  ModelChanges result;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string location = "--set " + word;
    result.push_back(change(word.substr(0, equals),
                            equals == std::string::npos ? "" : word.substr(equals + 1), location));
  }
  return result;
}

/// Lines "subsystem.name, value"; a first line without a value of its own is a header.
ModelChanges read_changes_file(const std::filesystem::path& path) {
  std::ifstream stream(path);
  if (!stream) {
    throw InputError(path.string() + ": cannot be read; --parameters wants a CSV file with lines " +
                     "'subsystem.name,value'");
  }
  ModelChanges result;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    const std::string location = path.string() + ":" + std::to_string(number);
    const std::string text = trimmed(line);
    const std::size_t comma = text.find_first_of(",;\t");
    const bool header = number == 1 && text.find('.') == std::string::npos;
    if (text.empty() || text.front() == '#' || header) {
      continue;
    }
    result.push_back(change(text.substr(0, comma),
                            comma == std::string::npos ? "" : text.substr(comma + 1), location));
  }
  return result;
}

ChangesByOwner::ChangesByOwner(const ModelChanges& changes) {
  std::set<std::pair<std::string, std::string>> seen;
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    if (seen.emplace(change->owner, change->name).second) {
      changes_[change->owner].push_back(*change);
    }
  }
}

const ModelChanges& ChangesByOwner::of(const std::string& owner) const {
  static const ModelChanges none;
  const auto found = changes_.find(owner);
  return found == changes_.end() ? none : found->second;
}

void ChangesByOwner::refuse_others(std::span<const std::string> owners) const {
  const std::set<std::string> known_owners(owners.begin(), owners.end());
  for (const auto& [owner, changes] : changes_) {
    if (!known_owners.contains(owner)) {
      throw InputError(changes.front().location + ": there is no subsystem " + in_quotes(owner) +
                       "; " + known("subsystems", owner, owners));
    }
  }
}

}  // namespace concord
