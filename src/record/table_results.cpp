#include "record/table_results.hpp"

#include <set>
#include <span>
#include <string>
#include <vector>

#include "files/foreign_table.hpp"
#include "files/hdf5_io.hpp"
#include "files/time_table.hpp"
#include "support/hdf5_error.hpp"

namespace concord {
namespace {

/// Rows [row, column] of numbers.
void write_rows(hid_t file, const char* path, std::size_t columns, std::span<const double> values) {
  const hsize_t shape[2] = {columns == 0 ? 0 : values.size() / columns, columns};
  const Hdf5Dataspace space(hdf5_check(H5Screate_simple(2, shape, nullptr)));
  const Hdf5Dataset dataset(hdf5_check(
      H5Dcreate2(file, path, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
  if (!values.empty())
    hdf5_check(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
}

void append_row(const TimeTable& table, std::size_t row, std::vector<double>& values) {
  for (const auto& column : table.columns) values.push_back(column[row]);
}

}  // namespace

bool is_table(const std::filesystem::path& path) {
  static const std::set<std::string> endings{".csv", ".tsv", ".txt"};
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && !is_hdf5_file(path) &&
         (is_foreign_table(path) || endings.contains(path.extension().string()));
}

Hdf5File results_of_table(const std::filesystem::path& path) {
  const TimeTable table = read_table(path, "", Gaps::not_a_number);
  std::vector<double> times, values, events, left;
  for (std::size_t row = 0; row < table.time.size(); ++row) {
    const double time = table.time[row];
    const bool again = row > 0 && table.time[row - 1] == time;
    const bool followed = row + 1 < table.time.size() && table.time[row + 1] == time;
    if (followed && !again) {
      events.push_back(time);
      append_row(table, row, left);
    }
    if (followed) continue;
    times.push_back(time);
    append_row(table, row, values);
  }
  const auto units =
      table.units.empty() ? std::vector<std::string>(table.names.size()) : table.units;
  Hdf5File file = file_in_memory();
  write_attribute(file, "concord_version", std::string(CONCORD_VERSION));
  write_attribute(file, "model_name", path.stem().string());
  write_attribute(file, "status", std::string("completed"));
  write_dataset(file, "/time", H5T_NATIVE_DOUBLE, times);
  create_group(file, "/outputs");
  write_dataset(file, "/outputs/names", table.names);
  write_dataset(file, "/outputs/units", units);
  write_rows(file, "/outputs/values", table.names.size(), values);
  create_group(file, "/subsystems");  // none
  const std::vector<std::string> nobody;
  for (const char* list : {"/subsystems/name", "/subsystems/kind"})
    write_dataset(file, list, nobody);
  write_dataset(file, "/subsystems/wall_time", H5T_NATIVE_DOUBLE, std::vector<double>());
  if (!events.empty()) {
    create_group(file, "/events");
    write_dataset(file, "/events/time", H5T_NATIVE_DOUBLE, events);
    write_rows(file, "/events/outputs", table.names.size(), left);
  }
  return file;
}

}  // namespace concord
