#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "files/foreign_table.hpp"

namespace concord {

/// How CSV is written.
struct CsvDialect {
  char separator = ',';
  char decimal = '.';
  bool utf16 = false;  ///< little-endian, with its mark; else UTF-8
};

/// Of words between commas: comma, semicolon, tab; decimal-comma; utf-16. Throws InputError that
/// begins with `place`.
CsvDialect csv_dialect(const std::string& words, const std::string& place);

/// What rows of a table are written to.
class TableOutput {
 public:
  virtual ~TableOutput() = default;
  /// Time in s, and a value per name. `gaps`: what is no number is not known, and left empty where
  /// the format can.
  virtual void write(double time, std::span<const double> values, Gaps gaps) = 0;
  virtual void close() = 0;
};

/// By the ending of `path` (is_foreign_table), else CSV; to standard output without a path. Throws
/// InputError, also for a dialect of what is no CSV.
std::unique_ptr<TableOutput> make_table_output(const std::optional<std::string>& path,
                                               TableHeader header,
                                               const std::optional<CsvDialect>& dialect = {});

}  // namespace concord
