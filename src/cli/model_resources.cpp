#include "cli/model_resources.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <set>
#include <vector>

#include "concord/errors.hpp"
#include "files/text_file.hpp"
#include "modelfile/yaml/shipped_files.hpp"
#include "modelfile/yaml/yaml_tree.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

fs::path whole(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

bool is_text(const ModelFile& file) {
  return file.role == "model file" || file.role == "included file" || file.role == "system's file";
}

/// What a YAML file says about another one.
struct Reference {
  std::string written;
  int line = 0;
  fs::path target;  ///< whole
  bool shipped = false;
};

/// Scalars of keys that name files, where they name one that is there.
class References {
 public:
  explicit References(const fs::path& file) : folder_(file.parent_path()) {
    const YamlDocument document =
        parse_yaml(read_text_file(file, "a model file (YAML)"), file.string());
    look_at(*document.root, false);
  }
  std::vector<Reference> take() { return std::move(found_); }

 private:
  void look_at(const YamlNode& node, bool names_file) {
    if (node.kind == YamlNode::Kind::scalar && names_file) add(node);
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      if (node.kind == YamlNode::Kind::sequence) look_at(*node.children[i], names_file);
      if (node.kind == YamlNode::Kind::map && i % 2 == 1)
        look_at(*node.children[i], is_key(node.children[i - 1]->text));
    }
  }
  static bool is_key(const std::string& key) {
    constexpr std::array keys = {"file", "fmu", "library", "system", "include"};
    return std::ranges::find(keys, key) != keys.end();
  }
  void add(const YamlNode& node) {
    const fs::path beside = whole(folder_ / node.text);
    std::error_code error;
    if (fs::is_regular_file(beside, error)) {
      found_.push_back({node.text, node.line, beside});
    } else if (const fs::path shipped = shipped_file(node.text); !shipped.empty()) {
      found_.push_back({node.text, node.line, shipped, true});
    }
  }

  fs::path folder_;
  std::vector<Reference> found_;
};

fs::path common_folder(const std::set<fs::path>& files) {
  fs::path result = files.begin()->parent_path();
  for (const fs::path& file : files) {
    const auto [end, other] = std::mismatch(result.begin(), result.end(), file.begin(), file.end());
    fs::path shared;
    for (auto part = result.begin(); part != end; ++part) shared /= *part;
    result = shared;
  }
  return result;
}

class Gathering {
 public:
  explicit Gathering(const Model& model) : model_(model) {}

  ModelResources gather() {
    const fs::path file = whole(model_.files.front().path);
    for (const ModelFile& known : model_.files)
      if (is_text(known) && is_yaml(file)) references_[whole(known.path)];
    for (auto& [text, references] : references_) references = References(text).take();
    choose_places();
    result_.model = places_.at(file);
    for (const auto& [source, place] : places_) result_.files[place] = source;
    for (const auto& [text, references] : references_) rewrite(text, references);
    require_all();
    return std::move(result_);
  }

 private:
  static bool is_yaml(const fs::path& file) {
    return file.extension() != ".ssp" && file.extension() != ".ssd";
  }
  /// Files that absolute paths name lie anywhere, the others as far apart as they are.
  void choose_places() {
    std::set<fs::path> near, far;
    for (const ModelFile& file : model_.files)
      if (!file.path.empty()) near.insert(whole(file.path));
    for (const auto& [text, references] : references_)
      for (const Reference& reference : references) {
        const bool is_leaf = !references_.contains(reference.target);
        if (reference.shipped || (is_leaf && fs::path(reference.written).is_absolute())) {
          far.insert(reference.target);
        }
      }
    std::set<fs::path> together;
    std::ranges::set_difference(near, far, std::inserter(together, together.end()));
    const fs::path folder = common_folder(together);
    for (const fs::path& file : together) places_[file] = file.lexically_relative(folder);
    std::size_t count = 0;
    for (const fs::path& file : far)
      places_[file] = "from_elsewhere/" + std::to_string(++count) + "/" + file.filename().string();
  }
  /// Where a text says what does not lead to the place, it gets to say what does.
  void rewrite(const fs::path& text, const std::vector<Reference>& references) {
    const fs::path folder = fs::path(places_.at(text)).parent_path();
    std::vector<std::string> lines;
    for (const Reference& reference : references) {
      const std::string place = places_.at(reference.target);
      if ((folder / reference.written).lexically_normal() == place) continue;
      if (lines.empty()) lines = lines_of(text);
      std::string& line = lines[static_cast<std::size_t>(reference.line - 1)];
      const std::size_t at = line.find(reference.written);
      if (at == std::string::npos)
        throw InputError(text.string() + ":" + std::to_string(reference.line) + ": the path " +
                         in_quotes(reference.written) +
                         " leads out of the FMU and is not written on one line as it is; write it "
                         "so, or relative to this file");
      line.replace(at, reference.written.size(),
                   fs::path(place).lexically_relative(folder.empty() ? "." : folder).string());
    }
    if (lines.empty()) return;
    std::string changed;
    for (const std::string& line : lines) changed += line + "\n";
    result_.texts[places_.at(text)] = changed;
  }
  static std::vector<std::string> lines_of(const fs::path& text) {
    std::ifstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
  void require_all() const {
    for (const ModelFile& file : model_.files)
      if (file.path.empty())
        throw InputError(model_.source + ": the " + file.role + " " + in_quotes(file.name) +
                         " is found by the loader alone, and an FMU cannot hold it; name its file");
  }

  const Model& model_;
  std::map<fs::path, std::vector<Reference>> references_;  ///< by YAML files
  std::map<fs::path, std::string> places_;
  ModelResources result_;
};

}  // namespace

void ModelResources::write(const fs::path& folder) const {
  try {
    for (const auto& [place, source] : files) {
      fs::create_directories((folder / place).parent_path());
      if (!texts.contains(place)) fs::copy_file(source, folder / place);
    }
  } catch (const fs::filesystem_error& error) {
    throw InputError(std::string("a file of the model cannot be copied: ") + error.what());
  }
  for (const auto& [place, text] : texts) {
    std::ofstream stream(folder / place, std::ios::binary);
    stream << text;
    if (!stream.flush()) throw InputError("cannot write '" + (folder / place).string() + "'");
  }
}

ModelResources resources_of(const Model& model) { return Gathering(model).gather(); }

}  // namespace concord
