#include "files/number_rows.hpp"

#include "concord/errors.hpp"
#include "files/csv_fields.hpp"
#include "support/wording.hpp"

namespace concord {

NumberRows read_number_rows(const std::filesystem::path& path) {
  NumberRows result;
  for_each_csv_row(path, UnfinishedLine::read, [&](CsvRow row) {
    if (result.header.empty()) {
      result.header = std::move(row.fields);
      return;
    }
    std::vector<double>& numbers = result.rows.emplace_back();
    for (const std::string& field : row.fields) {
      const auto value = csv_number(field, row.separator);
      if (!value)
        throw InputError(row.place + ": field " + std::to_string(numbers.size() + 1) +
                         " must be a number, not " + in_quotes(field));
      numbers.push_back(*value);
    }
  });
  return result;
}

}  // namespace concord
