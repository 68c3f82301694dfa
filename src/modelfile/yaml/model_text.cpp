#include "modelfile/yaml/model_text.hpp"

#include <iterator>
#include <utility>

#include "concord/errors.hpp"
#include "files/text_file.hpp"
#include "modelfile/yaml/model_keys.hpp"
#include "modelfile/yaml/shipped_files.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// The same for every way to write the path.
std::string identity(const std::filesystem::path& path) {
  std::error_code error;
  const auto whole = std::filesystem::weakly_canonical(path, error);
  return (error ? path : whole).string();
}

}  // namespace

ModelText::ModelText(const std::filesystem::path& path) {
  known_.emplace(identity(path), path.string());
  root_ = read(path, "the model file");
  for (const char* key : {"name", "experiment", "schedule"}) {
    refuse_second(key);
  }
}

NodeReader ModelText::parse(const std::filesystem::path& path, const std::string& what,
                            const std::string& needs, std::deque<File>& files) {
  File& file = files.emplace_back();
  file.source = path.string();
  file.document = parse_yaml(read_text_file(path, "a model file (YAML)"), file.source);
  if (file.document.root == nullptr || file.document.root->kind == YamlNode::Kind::null) {
    throw InputError(file.source + ":1: " + what + " is empty; it needs " + needs);
  }
  return {file.source, *file.document.root, what};
}

NodeReader ModelText::system_file(const NodeReader& name) const {
  const std::filesystem::path path = (name.folder() / name.text()).lexically_normal();
  if (std::error_code error; !std::filesystem::exists(path, error)) {
    name.fail("is not there: " + in_quotes(path.string()) + "; paths are relative to this file");
  }
  for (const File& file : systems_) {
    if (file.source == path.string())
      return {file.source, *file.document.root, "the system's file"};
  }
  return parse(path, "the system's file", "subsystems", systems_);
}

NodeReader ModelText::read(const std::filesystem::path& path, const std::string& what) {
  const NodeReader root =
      parse(path, what, files_.empty() ? "experiment and subsystems" : "content", files_);
  std::vector<Field> fields = root.fields_among(model_keys);
  if (const auto others = find_field(fields, "include")) {
    for (const NodeReader& item : others->items("included file")) {
      include(item);
    }
  }
  parts_.push_back(std::move(fields));
  return root;
}

void ModelText::include(const NodeReader& item) {
  std::filesystem::path path = (item.folder() / item.text()).lexically_normal();
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !shipped_file(item.text()).empty()) {
    path = shipped_file(item.text());
  }
  const auto [known, is_new] = known_.emplace(identity(path), item.location());
  if (!is_new) {
    item.fail("is there already: " + in_quotes(path.string()) + ", at " + known->second +
              "; include it once");
  }
  if (!std::filesystem::exists(path, error)) {
    item.fail("is not there: " + in_quotes(path.string()) +
              "; paths are relative to this file, or name what comes with Concord: "
              "library/control.yaml, library/mechanics.yaml, library/sources.yaml");
  }
  read(path, "the included file");
}

std::vector<std::string> ModelText::sources() const {
  std::vector<std::string> result;
  for (const File& file : files_) {
    result.push_back(file.source);
  }
  return result;
}

std::vector<NodeReader> ModelText::all(const char* key) const {
  std::vector<NodeReader> result;
  for (const std::vector<Field>& fields : parts_) {
    if (const auto node = find_field(fields, key)) {
      result.push_back(*node);
    }
  }
  return result;
}

void ModelText::refuse_second(const char* key) const {
  if (const std::vector<NodeReader> found = all(key); found.size() > 1) {
    found[1].fail("is there twice, also at " + found[0].location() + "; remove one");
  }
}

std::optional<NodeReader> ModelText::find(const char* key) const {
  const std::vector<NodeReader> found = all(key);
  return found.empty() ? std::nullopt : std::optional(found.front());
}

NodeReader ModelText::required(const char* key, const std::string& remedy) const {
  const auto found = find(key);
  if (!found) {
    root_->fail("lacks '" + std::string(key) + "'; add " + remedy);
  }
  return *found;
}

std::vector<Field> ModelText::entries(const char* key, const std::string& role) const {
  for (const NodeReader& node : all(key)) {
    node.named_fields(role, "");
  }
  return loose_entries(key, role);
}

std::vector<Field> ModelText::loose_entries(const char* key, const std::string& role) const {
  std::vector<Field> result;
  std::map<std::string, std::string> places;
  for (const NodeReader& node : all(key)) {
    for (Field& field : node.fields(role, "")) {
      const auto [place, is_new] = places.emplace(field.key, field.key_location);
      if (!is_new) {
        throw InputError(field.key_location + ": " + field.value.what() +
                         " is there twice, also at " + place->second + "; remove one");
      }
      result.push_back(std::move(field));
    }
  }
  return result;
}

std::vector<NodeReader> ModelText::items(const char* key, const std::string& role) const {
  std::vector<NodeReader> result;
  for (const NodeReader& node : all(key)) {
    if (!node.is_null()) {
      std::vector<NodeReader> own = node.items(role);
      std::move(own.begin(), own.end(), std::back_inserter(result));
    }
  }
  return result;
}

}  // namespace concord
