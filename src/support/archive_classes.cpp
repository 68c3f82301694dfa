#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
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

}  // namespace

struct Archive::Classes {
  std::unordered_map<std::type_index, int> seen;
  std::map<std::string, int> written;
};

void Archive::note_classes() { classes_ = std::make_shared<Classes>(); }

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
