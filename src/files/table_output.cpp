#include "files/table_output.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "concord/errors.hpp"
#include "files/text_encoding.hpp"
#include "files/text_output.hpp"
#include "support/name_patterns.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

class CsvOutput final : public TableOutput {
 public:
  CsvOutput(const std::optional<std::string>& path, const TableHeader& header, CsvDialect dialect)
      : file_(path), dialect_(dialect) {
    std::string line = "time";
    for (const std::string& name : header.names) line += dialect_.separator + field(name);
    if (dialect_.utf16) file_.write("\xff\xfe");
    put(line + "\n");
  }

  void write(double time, std::span<const double> values, Gaps gaps) override {
    line_.clear();
    append(time);
    for (const double value : values) {
      line_ += dialect_.separator;
      if (gaps == Gaps::refused || !std::isnan(value)) append(value);
    }
    put(line_ += '\n');
  }

  void close() override { file_.close(); }

 private:
  void put(const std::string& line) {
    file_.write(dialect_.utf16 ? converted_text(line, "UTF-8", "UTF-16LE", "the table") : line);
  }

  /// In quotes where it has what separates.
  std::string field(const std::string& name) const {
    const std::string comma_field = csv_field(name);
    const bool quoted = comma_field.starts_with('"') && comma_field != name;
    if (quoted || name.find(dialect_.separator) == name.npos) return comma_field;
    return '"' + name + '"';
  }

  void append(double value) {
    char number[32];
    const int size = std::snprintf(number, sizeof number, "%.17g", value);
    if (dialect_.decimal != '.') std::replace(number, number + size, '.', dialect_.decimal);
    line_.append(number, static_cast<std::size_t>(size));
  }

  TextOutput file_;
  CsvDialect dialect_;
  std::string line_;
};

class ForeignOutput final : public TableOutput {
 public:
  ForeignOutput(const std::string& path, TableHeader header) : file_(path, std::move(header)) {}
  void write(double time, std::span<const double> values, Gaps /*gaps*/) override {
    file_.write(time, values);
  }
  void close() override { file_.close(); }

 private:
  ForeignTableOutput file_;
};

}  // namespace

CsvDialect csv_dialect(const std::string& words, const std::string& place) {
  CsvDialect dialect;
  for (const std::string& word : listed_names(words)) {
    if (word == "comma")
      dialect.separator = ',';
    else if (word == "semicolon")
      dialect.separator = ';';
    else if (word == "tab")
      dialect.separator = '\t';
    else if (word == "decimal-comma")
      dialect.decimal = ',';
    else if (word == "utf-16")
      dialect.utf16 = true;
    else
      throw InputError(place + ": " + in_quotes(word) + " is none of comma, semicolon, tab, " +
                       "decimal-comma, utf-16");
  }
  if (dialect.decimal == dialect.separator)
    throw InputError(place + ": decimal-comma needs semicolon or tab between fields");
  return dialect;
}

std::unique_ptr<TableOutput> make_table_output(const std::optional<std::string>& path,
                                               TableHeader header,
                                               const std::optional<CsvDialect>& dialect) {
  if (!path || !is_foreign_table(*path))
    return std::make_unique<CsvOutput>(path, header, dialect.value_or(CsvDialect()));
  if (dialect) throw InputError("'" + *path + "' is no CSV: a dialect is for CSV files");
  return std::make_unique<ForeignOutput>(*path, std::move(header));
}

}  // namespace concord
