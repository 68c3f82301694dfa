#include "modelfile/yaml/yaml_tree.hpp"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <unordered_map>

#include "concord/errors.hpp"

namespace concord {

namespace {

/// Builds the tree from yaml-cpp's events; YAML::Node would keep neither the order of duplicate
/// keys nor be fast enough for large networks.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(YamlDocument& document) : document_(document) {}

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode& node = add(YamlNode::Kind::null, mark, anchor);
    // A value that is missing is reported where the next token stands; its key is the place.
    const bool is_value = !open_.empty() && open_.back()->kind == YamlNode::Kind::map &&
                          open_.back()->children.size() % 2 == 0;
    if (is_value) {
      node.line = open_.back()->children[open_.back()->children.size() - 2]->line;
    }
  }

  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t anchor) override {
    attach(anchors_.at(anchor));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode& node = add(YamlNode::Kind::scalar, mark, anchor);
    node.text = value;
    node.quoted = tag != "?";
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    open(add(YamlNode::Kind::sequence, mark, anchor), style);
  }
  void OnSequenceEnd() override { open_.pop_back(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    open(add(YamlNode::Kind::map, mark, anchor), style);
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  YamlNode& add(YamlNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    YamlNode& node = document_.nodes.emplace_back();
    node.kind = kind;
    node.line = mark.line + 1;
    if (anchor != 0) {
      anchors_[anchor] = &node;
    }
    attach(&node);
    return node;
  }

  void attach(const YamlNode* node) {
    if (open_.empty()) {
      document_.root = node;
    } else {
      open_.back()->children.push_back(node);
    }
  }

  void open(YamlNode& node, YAML::EmitterStyle::value style) {
    node.flow = style == YAML::EmitterStyle::Flow;
    open_.push_back(&node);
  }

  YamlDocument& document_;
  std::vector<YamlNode*> open_;
  std::unordered_map<YAML::anchor_t, const YamlNode*> anchors_;
};

std::size_t line_of(const std::string& text, std::size_t position) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(position);
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

/// Length of the UTF-8 character at `i`; 0 if there is none.
std::size_t utf8_length(const std::string& text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = byte(i);
  const std::size_t length = first < 0x80                     ? 1
                             : first >= 0xc2 && first < 0xe0  ? 2
                             : first >= 0xe0 && first < 0xf0  ? 3
                             : first >= 0xf0 && first <= 0xf4 ? 4
                                                              : 0;
  if (i + length > text.size()) {
    return 0;
  }
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xc0) != 0x80) {
      return 0;
    }
  }
  return length;
}

void check_is_text(const std::string& text, const std::string& source) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    if (length == 0 || text[i] == '\0') {
      std::ostringstream message;
      message << source << ':' << line_of(text, i) << ": byte 0x" << std::hex
              << static_cast<int>(static_cast<unsigned char>(text[i]))
              << " is not UTF-8 text; a model file is YAML, saved as UTF-8";
      throw InputError(message.str());
    }
    i += length;
  }
}

/// The first line up to `last` that is indented with a tab; 0: none.
int line_with_tab(const std::string& text, int last) {
  std::istringstream stream(text);
  int number = 0;
  for (std::string line; ++number <= last && std::getline(stream, line);) {
    const std::size_t tab = line.find('\t');
    if (tab != std::string::npos && line.find_first_not_of(" \t") > tab) return number;
  }
  return 0;
}

[[noreturn]] void fail(const std::string& source, int line, const std::string& message) {
  throw InputError(source + ":" + std::to_string(std::max(line, 1)) + ": " + message);
}

}  // namespace

YamlDocument parse_yaml(const std::string& text, const std::string& source) {
  check_is_text(text, source);
  YamlDocument document;
  YamlDocument second;
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    TreeBuilder builder(document);
    parser.HandleNextDocument(builder);
    TreeBuilder ignored(second);
    if (parser.HandleNextDocument(ignored) && second.root != nullptr) {
      fail(source, second.root->line,
           "a second YAML document begins before here; a model file is one: remove the '---'");
    }
  } catch (const YAML::DeepRecursion& error) {
    fail(source, error.mark.line + 1, "this nests too deeply for a model file");
  } catch (const YAML::Exception& error) {
    if (const int line = line_with_tab(text, error.mark.line + 1); line > 0) {
      fail(source, line,
           "this is not valid YAML: the line is indented with a tab; indent with spaces");
    }
    fail(source, error.mark.line + 1,
         "this is not valid YAML: " + error.msg +
             "; indent with spaces, and put a text that contains ': ' or, inside { } or [ ], a "
             "comma "
             "or a bracket in quotes; inside these no line begins with '- '");
  }
  return document;
}

}  // namespace concord
