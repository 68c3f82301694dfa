#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace concord {

/// Rows of numbers below a header, which may be numbers, too.
struct NumberRows {
  std::vector<std::string> header;
  std::vector<std::vector<double>> rows;  ///< each as long as the header
};

/// Reads a CSV file; fields are separated by commas, semicolons or tabs, whatever the header has.
/// Throws InputError with file, line and column.
NumberRows read_number_rows(const std::filesystem::path& path);

}  // namespace concord
