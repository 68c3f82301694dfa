#pragma once

#include <filesystem>
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

/// Reads a CSV file with a header row. Throws InputError with file and line.
TextTable read_text_table(const std::filesystem::path& path,
                          UnfinishedLine last = UnfinishedLine::read);

}  // namespace concord
