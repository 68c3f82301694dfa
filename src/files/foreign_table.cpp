#include "files/foreign_table.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "concord/errors.hpp"
#include "files/foreign_script.hpp"
#include "files/hdf5_io.hpp"
#include "files/program.hpp"
#include "files/text_file.hpp"
#include "files/whole_file.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

std::string in_small_letters(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string ending_of(const fs::path& path) { return in_small_letters(path.extension().string()); }

}  // namespace

/// A folder through which tables go to the script and back: table.json (time, names, units) and
/// table.f64 (rows of doubles, time first).
class TableExchange {
 public:
  TableExchange() {
    std::string name = (fs::temp_directory_path() / "concord-table-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw InputError("cannot make a temporary folder in " + fs::temp_directory_path().string() +
                       ": " + std::generic_category().message(errno) +
                       "; TMPDIR may name another one");
    folder_ = name;
  }
  ~TableExchange() {
    std::error_code error;
    fs::remove_all(folder_, error);
  }
  TableExchange(const TableExchange&) = delete;
  TableExchange& operator=(const TableExchange&) = delete;

  fs::path header() const { return folder_ / "table.json"; }
  fs::path rows() const { return folder_ / "table.f64"; }

  /// `action`: check, read or write. Throws InputError with what the script says.
  void call(const std::string& action, const fs::path& path) const {
    const fs::path said = folder_ / "said";
    int code = 0;
    try {
      code = run_program(
          {.words = {python_interpreter(), "-c", foreign_script, action, ending_of(path).substr(1),
                     fs::absolute(path).string(), folder_.string()},
           .output = said});
    } catch (const std::system_error&) {
      throw InputError("'" + path.string() + "' needs Python, and there is no " +
                       python_interpreter() +
                       ": install it (Debian: apt-get install python3), or name an interpreter " +
                       "with CONCORD_PYTHON; CSV needs none");
    }
    if (code == 0) return;
    std::string text = read_text_file(said, "what was said");
    text.erase(text.find_last_not_of(" \n") + 1);
    throw InputError(
        "'" + path.string() + "' " +
        (code == expected ? "" : "cannot be handled by " + python_interpreter() + ": ") +
        (code == expected ? text : text.substr(text.rfind('\n') + 1)));
  }

 private:
  static constexpr int expected = 3;  ///< the script's exit code where it has a message
  fs::path folder_;
};

bool is_foreign_table(const fs::path& path) {
  static const std::set<std::string> endings{".parquet", ".mf4", ".mdf", ".mat"};
  std::error_code error;
  return endings.contains(ending_of(path)) &&
         !(fs::is_regular_file(path, error) && is_hdf5_file(path));
}

namespace {

std::size_t place_of_time(const std::vector<std::string>& names, const std::string& wanted,
                          const std::string& file) {
  if (wanted.empty()) {
    const auto time = std::ranges::find(names, "time", in_small_letters);
    return time == names.end() ? 0 : static_cast<std::size_t>(time - names.begin());
  }
  const auto found = std::ranges::find(names, wanted);
  if (found == names.end())
    throw InputError(file + ": has no column " + in_quotes(wanted) + " for the time; " +
                     known("columns", wanted, names));
  return static_cast<std::size_t>(found - names.begin());
}

void require_names_once(const std::vector<std::string>& names, const std::string& file) {
  std::set<std::string> seen;
  for (const std::string& name : names)
    if (!seen.insert(name).second)
      throw InputError(file + ": the column " + in_quotes(name) + " is there twice");
}

void require_order(const TimeTable& table, Gaps gaps, const std::string& file) {
  for (std::size_t row = 0; row < table.time.size(); ++row) {
    const std::string place = file + ": row " + std::to_string(row + 1);
    if (!std::isfinite(table.time[row])) throw InputError(place + " has no time");
    if (row > 0 && table.time[row] < table.time[row - 1])
      throw InputError(place + ": the time " + short_number(table.time[row]) +
                       " comes before that of the row above; sort the rows");
    if (gaps != Gaps::refused) continue;
    for (std::size_t i = 0; i < table.names.size(); ++i)
      if (std::isnan(table.columns[i][row]))
        throw InputError(place + ": column " + in_quotes(table.names[i]) + " has no number");
  }
}

}  // namespace

TimeTable read_foreign_table(const fs::path& path, const std::string& time_column, Gaps gaps) {
  const std::string file = path.string();
  std::error_code error;
  if (!fs::is_regular_file(path, error)) throw InputError(file + ": cannot be read, it is no file");
  const TableExchange exchange;
  exchange.call("read", path);
  const auto header = nlohmann::json::parse(read_text_file(exchange.header(), "a table"));
  TimeTable table;
  table.names = header.at("names").get<std::vector<std::string>>();
  table.units = header.at("units").get<std::vector<std::string>>();
  require_names_once(table.names, file);
  const std::size_t width = table.names.size(), rows = header.at("rows").get<std::size_t>();
  if (width == 0 || rows == 0) throw InputError(file + ": has no row of numbers");
  std::vector<double> values(rows * width);
  std::ifstream stream(exchange.rows(), std::ios::binary);
  const auto bytes = static_cast<std::streamsize>(values.size() * sizeof(double));
  if (!stream.read(reinterpret_cast<char*>(values.data()), bytes))
    throw InputError(file + ": what was read of it is cut off: is the disk of " +
                     fs::temp_directory_path().string() + " full?");
  table.columns.assign(width, std::vector<double>(rows));
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < width; ++i) table.columns[i][row] = values[row * width + i];
  const auto at = static_cast<std::ptrdiff_t>(place_of_time(table.names, time_column, file));
  table.time = std::move(table.columns[static_cast<std::size_t>(at)]);
  table.time_name = table.names[static_cast<std::size_t>(at)];
  table.columns.erase(table.columns.begin() + at);
  table.names.erase(table.names.begin() + at);
  table.units.erase(table.units.begin() + at);
  require_order(table, gaps, file);
  return table;
}

ForeignTableOutput::ForeignTableOutput(const fs::path& path, TableHeader header)
    : path_(path), header_(std::move(header)), exchange_(std::make_unique<TableExchange>()) {
  std::error_code error;
  const bool is_file = fs::is_regular_file(path, error);
  if (fs::is_directory(path, error) || (is_file && is_hdf5_file(path)))
    throw InputError("'" + path.string() + "' holds something else than a table; it was left " +
                     "untouched: choose another file, or move it away");
  exchange_->call("check", path);
  rows_.open(exchange_->rows(), std::ios::binary);
}

ForeignTableOutput::~ForeignTableOutput() = default;

void ForeignTableOutput::write(double time, std::span<const double> values) {
  rows_.write(reinterpret_cast<const char*>(&time), sizeof time);
  rows_.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size_bytes()));
}

void ForeignTableOutput::close() {
  rows_.close();
  std::ofstream header(exchange_->header());
  header << nlohmann::json{
      {"title", header_.title}, {"names", header_.names}, {"units", header_.units}};
  header.close();
  if (!rows_ || !header)
    throw InputError("cannot write rows for '" + path_.string() + "' to a temporary file: is " +
                     fs::temp_directory_path().string() + " full?");
  exchange_->call("write", path_);
}

}  // namespace concord
