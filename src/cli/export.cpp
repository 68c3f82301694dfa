#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

#include "cli/command.hpp"
#include "cli/results_commands.hpp"
#include "cli/results_options.hpp"
#include "cli/session.hpp"
#include "concord/errors.hpp"

namespace concord {
namespace {

const RegisteredCommand export_results({
    .name = "export",
    .place = 50,
    .usage = "RESULT.h5 [--variables V] [-o out.csv]",
    .summary = "variables as comma-separated values",
    .description =
        "Writes comma-separated values: a header row 'time,left.x,...', then one row per "
        "communication\n"
        "point, time in s, 17 significant digits (every bit of the number).",
    .words = {{.name = "variables",
               .letter = 'v',
               .value = "NAMES",
               .help = "comma-separated names or shell patterns: left.x,right.*\n"
                       "(default: all; of an output, an input and a state of one name,\n"
                       "the first)"},
              {.name = "output",
               .letter = 'o',
               .value = "FILE",
               .help = "file to write (default: standard output)"}},
    .example = "export model.h5 -v left.x -o out.csv",
    .run =
        [](const Arguments& arguments) {
          return without_session([&] { return export_command(after_name(arguments)); });
        },
});

/// A text file, or standard output, that reports every failed write.
class TextFile {
 public:
  explicit TextFile(const std::optional<std::string>& path)
      : name_(path ? "'" + *path + "'" : "standard output"),
        file_(path ? std::fopen(path->c_str(), "w") : stdout),
        owned_(path.has_value()) {
    if (file_ == nullptr) fail();
  }
  ~TextFile() {
    if (owned_ && file_ != nullptr) std::fclose(file_);
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  void write(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
  }
  void close() {
    std::FILE* file = std::exchange(file_, nullptr);
    if ((owned_ ? std::fclose(file) : std::fflush(file)) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw InputError("cannot write " + name_ + ": " + std::strerror(errno));
  }

  std::string name_;
  std::FILE* file_;
  bool owned_;
};

/// A name as a CSV field.
std::string quoted(const std::string& name) {
  if (name.find_first_of(",\"\n\r") == std::string::npos) return name;
  std::string result = "\"";
  for (const char c : name) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

std::string header(const std::vector<RecordedVariable>& variables) {
  std::string line = "time";
  for (const RecordedVariable& v : variables) line += "," + quoted(v.name);
  return line + "\n";
}

void append_number(std::string& text, double value) {
  char number[32];
  text.append(number,
              static_cast<std::size_t>(std::snprintf(number, sizeof number, "%.17g", value)));
}

std::map<Quantity, std::vector<double>> read_block(const ResultsReader& results,
                                                   const std::vector<RecordedVariable>& variables,
                                                   std::size_t first, std::size_t count) {
  std::map<Quantity, std::vector<double>> block;
  for (const RecordedVariable& v : variables) {
    const auto [entry, added] = block.try_emplace(v.quantity);
    if (!added) continue;
    entry->second.resize(count * results.columns(v.quantity));
    results.read_rows(v.quantity, first, count, entry->second);
  }
  return block;
}

void write_rows(const ResultsReader& results, const std::vector<RecordedVariable>& variables,
                std::size_t first, std::size_t count, TextFile& file) {
  struct Source {
    const double* values;
    std::size_t stride;
  };
  const auto block = read_block(results, variables, first, count);
  std::vector<Source> sources;
  for (const RecordedVariable& v : variables)
    sources.push_back({block.at(v.quantity).data() + v.column, results.columns(v.quantity)});
  std::string line;
  for (std::size_t row = 0; row < count; ++row) {
    line.clear();
    append_number(line, results.time()[first + row]);
    for (const Source& s : sources) {
      line += ',';
      append_number(line, s.values[row * s.stride]);
    }
    file.write(line += '\n');
  }
}

}  // namespace

int export_command(std::span<const std::string> arguments) {
  const ResultsOptions options = read_results_options(export_results, arguments, 1);
  const ResultsReader results(options.files[0]);
  write_csv(results, select_variables(results, options.variables), options.output);
  return 0;
}

void write_csv(const ResultsReader& results, const std::vector<RecordedVariable>& variables,
               const std::optional<std::string>& path) {
  TextFile file(path);
  file.write(header(variables));
  std::size_t widest = 1;
  for (const RecordedVariable& v : variables)
    widest = std::max(widest, results.columns(v.quantity));
  const std::size_t rows = results.time().size(), at_once = rows_per_read(widest);
  for (std::size_t first = 0; first < rows; first += at_once)
    write_rows(results, variables, first, std::min(at_once, rows - first), file);
  file.close();
}

}  // namespace concord
