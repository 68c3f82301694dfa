#include "files/csv_table.hpp"

#include <algorithm>
#include <cmath>
#include <istream>
#include <limits>
#include <memory>
#include <set>

#include "concord/errors.hpp"
#include "files/csv_fields.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

class CsvReader {
 public:
  CsvReader(const std::filesystem::path& path, const std::string& time_column, Gaps gaps)
      : name_(path.string()), stream_(open_text(path)), time_column_(time_column), gaps_(gaps) {
    if (!stream_)
      throw InputError(name_ + ": cannot be read; give a CSV file with a header row and the time " +
                       "in its first column");
  }

  TimeTable read();

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(name_ + ":" + std::to_string(line_number_) + ": " + problem);
  }
  bool next_line();
  std::vector<std::string> fields() const;
  void read_header();
  void read_row();
  double number(const std::string& field, const std::string& column) const;

  std::string name_;
  std::unique_ptr<std::istream> stream_;
  std::string line_;
  std::size_t line_number_ = 0;
  char separator_ = ',';
  std::string time_column_;
  std::size_t time_place_ = 0;
  Gaps gaps_;
  TimeTable table_;
};

/// The next line that says something.
bool CsvReader::next_line() {
  while (std::getline(*stream_, line_)) {
    ++line_number_;
    line_ = csv_line(std::move(line_));
    if (!line_.empty()) return true;
  }
  return false;
}

std::vector<std::string> CsvReader::fields() const {
  auto result = csv_fields(line_, separator_);
  if (!result) fail("a quote is not closed");
  return *std::move(result);
}

void CsvReader::read_header() {
  if (!next_line()) fail("is empty; it needs a header row: time, and the names of the columns");
  separator_ = csv_separator(line_);
  table_.names = fields();
  if (!time_column_.empty()) {
    const auto found = std::find(table_.names.begin(), table_.names.end(), time_column_);
    if (found == table_.names.end())
      fail("has no column " + in_quotes(time_column_) + " for the time; " +
           known("columns", time_column_, table_.names));
    time_place_ = static_cast<std::size_t>(found - table_.names.begin());
  }
  table_.time_name = table_.names[time_place_];
  table_.names.erase(table_.names.begin() + static_cast<std::ptrdiff_t>(time_place_));
  std::set<std::string> known;
  for (const std::string& name : table_.names) {
    if (name.empty() || parse_number(name))
      fail("found " + in_quotes(name) + " where the header must have the name of a column");
    if (!known.insert(name).second) fail("the column " + in_quotes(name) + " is there twice");
  }
  table_.columns.resize(table_.names.size());
}

double CsvReader::number(const std::string& field, const std::string& column) const {
  if (field == "true" || field == "false") return field == "true" ? 1.0 : 0.0;
  if (gaps_ == Gaps::not_a_number && (field.empty() || field == "nan" || field == "NaN"))
    return std::numeric_limits<double>::quiet_NaN();
  const auto value = csv_number(field, separator_);
  if (!value) fail("column " + in_quotes(column) + " must have a number, not " + in_quotes(field));
  return *value;
}

void CsvReader::read_row() {
  std::vector<std::string> row = fields();
  if (row.size() != table_.names.size() + 1)
    fail("has " + std::to_string(row.size()) + " fields, the header has " +
         std::to_string(table_.names.size() + 1) +
         (separator_ == ',' ? std::string(decimals_or_semicolons) : ""));
  const std::string written = row[time_place_];
  row.erase(row.begin() + static_cast<std::ptrdiff_t>(time_place_));
  const double time = number(written, "time");
  if (!std::isfinite(time)) fail("has no time");
  if (!table_.time.empty() && time < table_.time.back())
    fail("the time " + written + " comes before that of the row above; sort the rows");
  table_.time.push_back(time);
  for (std::size_t i = 0; i < table_.names.size(); ++i)
    table_.columns[i].push_back(number(row[i], table_.names[i]));
}

TimeTable CsvReader::read() {
  read_header();
  while (next_line()) read_row();
  if (table_.time.empty()) fail("has no row of numbers below the header");
  return std::move(table_);
}

}  // namespace

TimeTable read_csv(const std::filesystem::path& path, const std::string& time_column, Gaps gaps) {
  return CsvReader(path, time_column, gaps).read();
}

}  // namespace concord
