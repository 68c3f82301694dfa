#include "modelfile/changes/model_changes.hpp"

#include <algorithm>
#include <istream>
#include <set>

#include "concord/errors.hpp"
#include "files/csv_fields.hpp"
#include "support/name_patterns.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string::npos
             ? ""
             : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string path_of(const ModelChange& change) { return change.owner + "." + change.name; }

bool has_pattern(const ModelChange& change) {
  return is_pattern(change.owner) || is_pattern(change.name);
}

}  // namespace

ModelChange change_of(const std::string& path, const std::string& text,
                      const std::string& location) {
  const std::string name = trimmed(path), value = trimmed(text);
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == name.size() || value.empty()) {
    throw InputError(location +
                     ": must read subsystem.name=value, or parameters.name=value for a parameter "
                     "of the whole model");
  }
  return {name.substr(0, dot), name.substr(dot + 1), value, location};
}

ModelChanges read_changes(std::span<const std::string> words) {
  ModelChanges result;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    result.push_back(change_of(word.substr(0, equals),
                               equals == std::string::npos ? "" : word.substr(equals + 1),
                               "--set " + word));
  }
  return result;
}

namespace {

/// The name and the value of a line; brackets of names may have commas, and so may values.
ModelChange change_in_line(const std::string& text, const std::string& location) {
  constexpr const char* separators = ",;\t";
  if (text.front() == '"') {
    const auto fields = csv_fields(text, csv_separator(text));
    const bool two = fields && fields->size() == 2;
    return change_of(two ? fields->front() : "", two ? fields->back() : "", location);
  }
  const std::size_t bracket = text.find(']');
  const std::size_t from =
      bracket < text.size() && text.find('[') < text.find_first_of(separators) ? bracket : 0;
  const std::size_t comma = text.find_first_of(separators, from);
  return change_of(text.substr(0, comma), comma == std::string::npos ? "" : text.substr(comma + 1),
                   location);
}

}  // namespace

/// A first line without a value of its own is a header.
ModelChanges read_csv_changes(const std::filesystem::path& path) {
  const auto stream = open_text(path);
  if (!stream) throw InputError(path.string() + ": cannot be read");
  ModelChanges result;
  std::set<std::string> seen;
  std::string line;
  for (std::size_t number = 1; std::getline(*stream, line); ++number) {
    const std::string location = path.string() + ":" + std::to_string(number);
    const std::string text = trimmed(csv_line(std::move(line)));
    const bool header = number == 1 && text.find('.') == std::string::npos;
    if (text.empty() || header) continue;
    result.push_back(change_in_line(text, location));
    if (!seen.insert(path_of(result.back())).second)
      throw InputError(location + ": " + in_quotes(path_of(result.back())) +
                       " is there twice in the file; remove one");
  }
  return result;
}

std::string as_words(const ModelChanges& changes) {
  std::string result;
  for (const ModelChange& change : changes) {
    result += (result.empty() ? "" : "\n") + change.owner + "." + change.name + "=" +
              (change.items.empty() ? change.text : joined(change.items, " ")) +
              (change.unit.empty() ? "" : " " + change.unit);
  }
  return result;
}

ChangesByOwner::ChangesByOwner(const ModelChanges& changes)
    : changes_(changes), used_(changes.size(), 0) {
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    auto& place = is_pattern(changes_[i].owner) ? of_many_ : by_owner_[changes_[i].owner];
    place.push_back(i);
  }
}

/// Whether a pattern may stand for names that begin so: what it needs up to its first `*` fits.
bool may_begin(std::string_view pattern, std::string_view begin) {
  const std::string_view fixed = pattern.substr(0, pattern.find('*'));
  const std::size_t count = std::min(fixed.size(), begin.size());
  return matches(fixed.substr(0, count), begin.substr(0, count));
}

/// In their order. Parameters of the whole model are meant by their own name only.
std::vector<std::size_t> ChangesByOwner::concerning(const std::string& owner) const {
  const std::string begin = owner + ".";
  std::vector<std::size_t> result;
  if (const auto found = by_owner_.find(owner.substr(0, owner.find('.')));
      found != by_owner_.end()) {
    std::copy_if(
        found->second.begin(), found->second.end(), std::back_inserter(result), [&](std::size_t i) {
          const std::string path = path_of(changes_[i]);
          return has_pattern(changes_[i]) ? may_begin(path, begin) : path.starts_with(begin);
        });
  }
  if (owner != whole_model) {
    std::copy_if(of_many_.begin(), of_many_.end(), std::back_inserter(result),
                 [&](std::size_t i) { return may_begin(path_of(changes_[i]), begin); });
  }
  std::sort(result.begin(), result.end());
  return result;
}

bool ChangesByOwner::has_patterns(const std::string& owner) const {
  const auto list = concerning(owner);
  return std::any_of(list.begin(), list.end(),
                     [&](std::size_t i) { return has_pattern(changes_[i]); });
}

std::vector<std::string> ChangesByOwner::meant_by(std::size_t change, const std::string& owner,
                                                  std::span<const std::string> names) {
  const std::string wanted = path_of(changes_[change]);
  if (!has_pattern(changes_[change])) {
    return {wanted.substr(owner.size() + 1)};
  }
  std::vector<std::string> result;
  for (const std::string& name : names) {
    offered_.push_back(owner + "." + name);
    if (matches(wanted, offered_.back())) {
      result.push_back(name);
    }
  }
  return result;
}

ModelChanges ChangesByOwner::of(const std::string& owner, std::span<const std::string> names) {
  const std::vector<std::size_t> concerned = concerning(owner);
  std::set<std::string> seen;
  ModelChanges result;
  for (auto change = concerned.rbegin(); change != concerned.rend(); ++change) {
    for (std::string& name : meant_by(*change, owner, names)) {
      used_[*change] = 1;
      if (seen.insert(name).second) {
        result.push_back(changes_[*change]);
        result.back().owner = owner;
        result.back().name = std::move(name);
      }
    }
  }
  std::ranges::reverse(result);
  return result;
}

void ChangesByOwner::refuse_others(std::span<const std::string> owners) const {
  const std::set<std::string> known_owners(owners.begin(), owners.end());
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    const auto& [owner, name, text, location, items, unit] = changes_[i];
    if (!is_pattern(owner) && !known_owners.contains(owner)) {
      throw InputError(location + ": there is no subsystem " + in_quotes(owner) + "; " +
                       known("subsystems", owner, owners));
    }
    if (has_pattern(changes_[i]) && !used_[i]) {
      throw InputError(location + ": the pattern " + in_quotes(owner + "." + name) +
                       " matches nothing that can be set" +
                       (offered_.empty() ? "; " + known("subsystems", owner, owners)
                                         : "; " + nearest_names(owner + "." + name, offered_)));
    }
  }
}

}  // namespace concord
