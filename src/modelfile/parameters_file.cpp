#include "modelfile/parameters_file.hpp"

#include <sstream>
#include <string>

#include "concord/errors.hpp"
#include "files/text_file.hpp"
#include "modelfile/ssp/ssp_changes.hpp"
#include "modelfile/yaml/yaml_changes.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

bool ends_in(const std::filesystem::path& path, std::initializer_list<const char*> endings) {
  for (const char* ending : endings) {
    if (path.extension() == ending) {
      return true;
    }
  }
  return false;
}

/// Whether the first line that is no comment has a colon before any separator of CSV.
bool reads_like_yaml(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string::npos && line[first] != '#') {
      const std::size_t mark = line.find_first_of(":,;\t");
      return mark != std::string::npos && line[mark] == ':';
    }
  }
  return false;
}

}  // namespace

ModelChanges read_parameters_file(const std::filesystem::path& path) {
  if (std::error_code error; !std::filesystem::is_regular_file(path, error)) {
    throw InputError(path.string() +
                     ": cannot be read; --parameters wants YAML, a parameter set (.ssv), or CSV "
                     "with lines 'subsystem.name,value'");
  }
  const std::string text = read_text_file(path, "a file of parameters");
  const std::size_t begin = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  const std::size_t first = text.find_first_not_of(" \t\r\n", begin);
  if (first != std::string::npos && text[first] == '<') {
    return read_ssv_changes(path);
  }
  const bool yaml = ends_in(path, {".yaml", ".yml", ".json"}) ||
                    (!ends_in(path, {".csv"}) && reads_like_yaml(text));
  return yaml ? read_yaml_changes(path) : read_csv_changes(path);
}

std::string parameters_text(const std::string& what,
                            const std::vector<std::pair<std::string, double>>& values) {
  std::string text = "# " + what + "; for --parameters\n";
  for (const auto& [name, value] : values)
    text += "\"" + name + "\": " + exact_number(value) + "\n";
  return text;
}

}  // namespace concord
