#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace concord {

/// For messages about rows that have other numbers of fields, where commas separate these.
inline constexpr std::string_view decimals_or_semicolons =
    "; decimals stand behind a point, or fields between semicolons";

/// The fields of a line of CSV (RFC 4180) without blanks around them; nothing where a quote is not
/// closed.
std::optional<std::vector<std::string>> csv_fields(std::string_view line, char separator);

/// Of what a header has outside quotes: a tabulator, else a semicolon, else a comma.
char csv_separator(std::string_view header);

/// Text to read, in UTF-8 without a mark at its begin: what begins with the mark of UTF-16 is
/// converted. Null where the file cannot be read; InputError for UTF-16 that is none.
std::unique_ptr<std::istream> open_text(const std::filesystem::path& path);

/// A line without what does not count: blanks at the end, and all of it where it begins with #.
std::string csv_line(std::string line);

/// The number of a field; where commas separate nothing, they may begin decimals.
std::optional<double> csv_number(std::string field, char separator);

/// A table of texts under names.
struct TextTable {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;  ///< each as long as `names`
};

/// What becomes of a last line that has no end, as a program leaves it that is killed.
enum class UnfinishedLine { read, left_out };

/// A row of a CSV file: its fields, what separates them, and where it stands ("rows.csv:3").
struct CsvRow {
  std::vector<std::string> fields;
  char separator;
  std::string place;
};
using TakeRow = std::function<void(CsvRow row)>;

/// Rows of a CSV file, the header first, that all have as many fields. Throws InputError with file
/// and line.
void for_each_csv_row(const std::filesystem::path& path, UnfinishedLine last, const TakeRow& take);

/// Reads a CSV file with a header row. Throws InputError with file and line.
TextTable read_text_table(const std::filesystem::path& path,
                          UnfinishedLine last = UnfinishedLine::read);

}  // namespace concord
