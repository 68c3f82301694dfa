#include "files/time_table.hpp"

#include "files/csv_table.hpp"
#include "files/foreign_table.hpp"

namespace concord {

TimeTable read_table(const std::filesystem::path& path, const std::string& time_column, Gaps gaps) {
  return is_foreign_table(path) ? read_foreign_table(path, time_column, gaps)
                                : read_csv(path, time_column, gaps);
}

}  // namespace concord
