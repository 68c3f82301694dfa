#include "files/number_rows.hpp"

#include "concord/errors.hpp"
#include "files/csv_fields.hpp"
#include "support/wording.hpp"

namespace concord {

NumberRows read_number_rows(const std::filesystem::path& path) {
  NumberRows result;
  for_each_csv_row(path, UnfinishedLine::read,
                   [&](const std::string& place, std::vector<std::string> fields) {
                     if (result.header.empty()) {
                       result.header = std::move(fields);
                       return;
                     }
                     std::vector<double>& row = result.rows.emplace_back();
                     for (const std::string& field : fields) {
                       const auto value = parse_number(field);
                       if (!value)
                         throw InputError(place + ": field " + std::to_string(row.size() + 1) +
                                          " must be a number, not " + in_quotes(field));
                       row.push_back(*value);
                     }
                   });
  return result;
}

}  // namespace concord
