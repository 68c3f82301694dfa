#include "modelfile/yaml/yaml_changes.hpp"

#include <set>
#include <utility>

#include "files/text_file.hpp"
#include "modelfile/yaml/node_reader.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

class ChangesReader {
 public:
  ModelChanges read(const NodeReader& root) {
    read_map(root, "");
    return std::move(changes_);
  }

 private:
  void read_map(const NodeReader& node, const std::string& prefix) {
    for (const Field& field : node.fields("value", "")) {
      const std::string path = prefix + field.key;
      if (field.value.is_map()) {
        read_map(field.value, path + ".");
      } else {
        read_value(field.value, path);
      }
    }
  }

  void read_value(const NodeReader& value, const std::string& path) {
    if (!seen_.insert(path).second) {
      value.fail("is there twice, as " + in_quotes(path) + "; remove one");
    }
    std::vector<std::string> items;
    if (value.is_list()) {
      for (const NodeReader& item : value.items(value.what())) {
        items.push_back(item.text());
      }
    }
    const std::string text = items.empty() ? value.text() : items.front();
    changes_.push_back(change_of(path, text, value.location()));
    changes_.back().items = std::move(items);
  }

  ModelChanges changes_;
  std::set<std::string> seen_;
};

}  // namespace

ModelChanges read_yaml_changes(const std::filesystem::path& path) {
  const std::string source = path.string();
  const YamlDocument document =
      parse_yaml(read_text_file(path, "a file of parameters (YAML)"), source);
  return document.root == nullptr
             ? ModelChanges{}
             : ChangesReader().read(NodeReader(source, *document.root, "the file"));
}

}  // namespace concord
