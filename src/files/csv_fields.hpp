#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace concord {

/// The fields of a line of CSV (RFC 4180) without blanks around them; nothing where a quote is not
/// closed.
std::optional<std::vector<std::string>> csv_fields(std::string_view line, char separator);

/// Semicolon or tabulator where the header has those and no comma, else comma.
char csv_separator(std::string_view header);

/// A table of texts under names.
struct TextTable {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;  ///< each as long as `names`
};

/// What becomes of a last line that has no end, as a program leaves it that is killed.
enum class UnfinishedLine { read, left_out };

/// A row's fields, and where it stands ("rows.csv:3").
using TakeRow = std::function<void(const std::string& place, std::vector<std::string> fields)>;

/// Rows of a CSV file, the header first, that all have as many fields. Throws InputError with file
/// and line.
void for_each_csv_row(const std::filesystem::path& path, UnfinishedLine last, const TakeRow& take);

/// Reads a CSV file with a header row. Throws InputError with file and line.
TextTable read_text_table(const std::filesystem::path& path,
                          UnfinishedLine last = UnfinishedLine::read);

}  // namespace concord
