#include "files/csv_fields.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "concord/errors.hpp"
#include "files/text_encoding.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// From the quote at `at` to behind the one that closes it; two in a row stand for one.
std::optional<std::string> quoted_field(std::string_view line, std::size_t& at) {
  std::string field;
  for (++at;; ++at) {
    if (at >= line.size()) return std::nullopt;
    if (line[at] == '"' && line.substr(at + 1, 1) != "\"") break;
    field += line[at];
    at += line[at] == '"' ? 1 : 0;
  }
  ++at;
  return field;
}

void require_names(const std::vector<std::string>& names, const std::string& file) {
  std::set<std::string> known;
  for (const std::string& name : names) {
    if (name.empty() || parse_number(name))
      throw InputError(file + ": found " + in_quotes(name) +
                       " where the header must have the name of a column");
    if (!known.insert(name).second)
      throw InputError(file + ": the column " + in_quotes(name) + " is there twice");
  }
}

}  // namespace

std::optional<std::vector<std::string>> csv_fields(std::string_view line, char separator) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at <= line.size(); ++at) {
    std::string field;
    while (at < line.size() && line[at] == ' ') ++at;
    if (at < line.size() && line[at] == '"') {
      auto quoted = quoted_field(line, at);
      if (!quoted) return std::nullopt;
      field = *std::move(quoted);
    }
    const std::size_t end = std::min(line.find(separator, at), line.size());
    field += line.substr(at, end - at);
    field.erase(field.find_last_not_of(' ') + 1);
    result.push_back(std::move(field));
    at = end;
  }
  return result;
}

char csv_separator(std::string_view header) {
  bool quoted = false, semicolon = false;
  for (const char c : header) {
    quoted = quoted != (c == '"');
    if (c == '\t' && !quoted) return '\t';
    semicolon = semicolon || (c == ';' && !quoted);
  }
  return semicolon ? ';' : ',';
}

std::unique_ptr<std::istream> open_text(const std::filesystem::path& path) {
  auto stream = std::make_unique<std::ifstream>(path, std::ios::binary);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || !stream->good()) return nullptr;
  std::string mark(3, ' ');
  stream->read(mark.data(), 3);
  stream->clear();
  const bool little = mark.starts_with("\xff\xfe"), big = mark.starts_with("\xfe\xff");
  if (!little && !big) {
    stream->seekg(mark == "\xef\xbb\xbf" ? 3 : 0);
    return stream;
  }
  stream->seekg(2);
  std::ostringstream content;
  content << stream->rdbuf();
  return std::make_unique<std::istringstream>(
      converted_text(content.str(), little ? "UTF-16LE" : "UTF-16BE", "UTF-8", path.string()));
}

std::string csv_line(std::string line) {
  line.erase(line.find_last_not_of(" \t\r") + 1);
  return line.starts_with('#') ? "" : line;
}

std::optional<double> csv_number(std::string field, char separator) {
  const std::size_t comma = separator == ',' ? field.npos : field.find(',');
  if (comma != field.npos) field[comma] = '.';
  return parse_number(field);
}

void for_each_csv_row(const std::filesystem::path& path, UnfinishedLine last, const TakeRow& take) {
  const auto stream = open_text(path);
  if (!stream)
    throw InputError(path.string() + ": cannot be read; give a CSV file with a header row");
  char separator = ',';
  std::size_t number = 0, columns = 0;
  for (std::string line; std::getline(*stream, line);) {
    ++number;
    const std::string place = path.string() + ":" + std::to_string(number);
    line = csv_line(std::move(line));
    if (line.empty() || (stream->eof() && last == UnfinishedLine::left_out)) continue;
    if (columns == 0) separator = csv_separator(line);
    auto fields = csv_fields(line, separator);
    if (!fields) throw InputError(place + ": a quote is not closed");
    if (columns != 0 && fields->size() != columns)
      throw InputError(place + ": has " + std::to_string(fields->size()) +
                       " fields, the header has " + std::to_string(columns) +
                       (separator == ',' ? std::string(decimals_or_semicolons) : ""));
    columns = fields->size();
    take({*std::move(fields), separator, place});
  }
  if (columns == 0)
    throw InputError(path.string() + ": is empty; it needs a header row with names");
}

TextTable read_text_table(const std::filesystem::path& path, UnfinishedLine last) {
  TextTable table;
  for_each_csv_row(path, last, [&](CsvRow row) {
    if (!table.names.empty()) {
      table.rows.push_back(std::move(row.fields));
      return;
    }
    require_names(row.fields, row.place);
    table.names = std::move(row.fields);
  });
  return table;
}

}  // namespace concord
