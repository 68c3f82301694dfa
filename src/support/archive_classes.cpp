#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>
#include <typeindex>
#include <unordered_map>

#include "concord/archive.hpp"
#include "concord/errors.hpp"

namespace concord {
namespace {

std::string demangled(const char* type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type, nullptr, nullptr, &status), &std::free);
  return status == 0 ? name.get() : type;
}

/// As it is written in C++; worked out once per class.
const std::string& name_of(std::type_index type) {
  static std::unordered_map<std::type_index, std::string> names;
  const auto [place, is_new] = names.try_emplace(type);
  if (is_new) place->second = demangled(type.name());
  return place->second;
}

/// "now_.x" and "now_->x_[k]" are "now.x".
std::string plain_name(std::string_view member) {
  std::string result;
  for (const char c : member.substr(member.find_first_not_of('*'))) {
    if (c == '[') break;
    if (c == '>') result.back() = '.';  // of "->"
    if (c == '.' || c == '-')
      while (result.ends_with('_')) result.pop_back();
    if (c != '>') result += c;
  }
  while (result.ends_with('_')) result.pop_back();
  return result;
}

}  // namespace

struct Archive::Classes {
  std::unordered_map<std::type_index, int> seen;
  std::map<std::string, int> written;
};

/// Names form a tree; literals are told apart by where they are.
struct Archive::Schema {
  struct Name {
    std::string text;
    std::uint32_t parent = 0;
    std::vector<std::pair<const char*, std::uint32_t>> children{};
  };
  std::vector<Name> names{Name{}};
  std::uint32_t now = 0;
  std::vector<std::vector<ArchiveSchema::Entry>> lanes;
};

void Archive::note_classes() {
  classes_ = std::make_shared<Classes>();
  schema_ = std::make_shared<Schema>();
  schema_->lanes.resize(passed_.size());
}

/// For `size` more bytes, where there are any to come.
void Archive::make_room(std::size_t size) {
  constexpr std::size_t fewest = 256;
  if (reading_) disagree();
  std::vector<std::byte>& bytes = lane(lane_);
  bytes.resize(std::max(2 * bytes.size(), passed_[lane_] + size + fewest));
}

std::uint32_t Archive::begin_name(const char*& names) {
  const std::uint32_t outside = schema_->now;
  auto& children = schema_->names[outside].children;
  const char* const begin = names + std::strspn(names, ", ");
  const std::size_t size = std::strcspn(begin, ",");
  names = begin + size;
  const auto known = std::find_if(children.begin(), children.end(),
                                  [&](const auto& child) { return child.first == begin; });
  if (known != children.end()) {
    schema_->now = known->second;
    return outside;
  }
  schema_->now = static_cast<std::uint32_t>(schema_->names.size());
  children.emplace_back(begin, schema_->now);
  schema_->names.push_back({plain_name({begin, size}), outside});
  return outside;
}

void Archive::end_name(std::uint32_t outside) { schema_->now = outside; }

void Archive::note(char type, std::size_t bytes, std::size_t count) {
  auto& entries = schema_->lanes[lane_];
  if (count == 0 && type != 'n') return;
  const bool goes_on = type != 'n' && !entries.empty() && entries.back().type == type &&
                       entries.back().name == schema_->now && entries.back().bytes == bytes;
  if (goes_on)
    entries.back().count += count;
  else
    entries.push_back({schema_->now, static_cast<std::uint32_t>(bytes), count, type});
}

ArchiveSchema Archive::take_schema() {
  ArchiveSchema result;
  for (const Schema::Name& name : schema_->names) {
    const std::string& parent = result.names.empty() ? name.text : result.names[name.parent];
    result.names.push_back(parent + (parent.empty() || name.text.empty() ? "" : "/") + name.text);
  }
  result.lanes = std::move(schema_->lanes);
  schema_.reset();
  return result;
}

void Archive::require_classes(std::vector<ArchiveClass> written) {
  classes_ = std::make_shared<Classes>();
  for (ArchiveClass& one : written) classes_->written[std::move(one.name)] = one.version;
}

std::vector<ArchiveClass> Archive::classes() const {
  std::vector<ArchiveClass> result;
  if (!classes_) return result;
  for (const auto& [type, version] : classes_->seen) {
    result.push_back({name_of(type), version});
  }
  std::sort(result.begin(), result.end(),
            [](const ArchiveClass& a, const ArchiveClass& b) { return a.name < b.name; });
  return result;
}

/// Of objects of one class only the first costs more than finding it.
void Archive::enter(const std::type_info& type, int version) {
  if (!classes_->seen.emplace(type, version).second || !reading_) return;
  const std::string& name = name_of(type);
  const auto found = classes_->written.find(name);
  if (found == classes_->written.end())
    throw InputError("it holds nothing of the class " + name + ", which remembers something here");
  if (found->second != version)
    throw InputError("the class " + name + " remembers other things here: version " +
                     std::to_string(version) + ", not " + std::to_string(found->second));
}

}  // namespace concord
