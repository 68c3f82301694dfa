#include "studies/run_table.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "concord/errors.hpp"
#include "files/csv_fields.hpp"
#include "files/hdf5_io.hpp"
#include "files/whole_file.hpp"
#include "support/hdf5_error.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields)
    line += (line.empty() && &field == fields.data() ? "" : ",") + csv_field(field);
  return line;
}

std::string on_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

double number_in(const std::string& field) {
  return parse_number(field).value_or(std::numeric_limits<double>::quiet_NaN());
}

[[noreturn]] void refuse_to_write(const fs::path& path, const std::exception& error) {
  throw InputError("'" + path.string() + "' cannot be written: " + error.what() +
                   "; choose another file with -o, and go on with --resume");
}

void write_numbers(hid_t file, const std::string& path, const std::vector<double>& values) {
  write_dataset(file, path.c_str(), H5T_IEEE_F64LE, values);
}

/// Numbers where all of them are.
void write_parameter(hid_t file, const std::string& path, const std::vector<std::string>& texts) {
  std::vector<double> values;
  for (const std::string& text : texts)
    if (const auto value = parse_number(text)) values.push_back(*value);
  if (values.size() == texts.size())
    write_numbers(file, path, values);
  else
    write_dataset(file, path.c_str(), texts);
}

void make_group(hid_t file, const char* path) {
  const hid_t group = hdf5_check(H5Gcreate2(file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  hdf5_check(H5Gclose(group));
}

/// A dataset per column, a row per run of the table.
void write_columns(hid_t file, const RunColumns& columns,
                   const std::map<std::size_t, RunRow>& rows) {
  std::vector<double> runs, codes, times;
  std::vector<std::string> errors, files;
  for (const auto& [run, row] : rows) {
    runs.push_back(static_cast<double>(run + 1));
    codes.push_back(row.exit_code);
    times.push_back(row.wall_time);
    errors.push_back(row.error);
    files.push_back(row.file);
  }
  write_dataset(file, "run", H5T_STD_I64LE, runs);
  write_dataset(file, "exit_code", H5T_STD_I32LE, codes);
  write_dataset(file, "error", errors);
  write_numbers(file, "wall_time", times);
  write_dataset(file, "file", files);
  make_group(file, "parameters");
  for (std::size_t p = 0; p < columns.design.names.size(); ++p) {
    std::vector<std::string> texts;
    for (const auto& [run, row] : rows) texts.push_back(columns.design.runs[run][p]);
    write_parameter(file, "parameters/" + columns.design.names[p], texts);
  }
  make_group(file, "results");
  for (std::size_t r = 0; r < columns.results.size(); ++r) {
    std::vector<double> values;
    for (const auto& [run, row] : rows)
      values.push_back(row.results.empty() ? std::nan("") : row.results[r]);
    write_numbers(file, "results/" + columns.results[r], values);
  }
}

}  // namespace

std::vector<std::string> RunColumns::names() const {
  std::vector<std::string> all{"run"};
  all.insert(all.end(), design.names.begin(), design.names.end());
  for (const char* name : {"exit_code", "error", "wall_time", "file"}) all.emplace_back(name);
  all.insert(all.end(), results.begin(), results.end());
  return all;
}

std::string line_of(const RunColumns& columns, const RunRow& row) {
  std::vector<std::string> fields{std::to_string(row.run + 1)};
  const auto& values = columns.design.runs[row.run];
  fields.insert(fields.end(), values.begin(), values.end());
  fields.push_back(std::to_string(row.exit_code));
  fields.push_back(on_line(row.error));
  fields.push_back(short_number(row.wall_time));
  fields.push_back(row.file);
  for (std::size_t r = 0; r < columns.results.size(); ++r)
    fields.push_back(
        row.results.empty() || std::isnan(row.results[r]) ? "" : exact_number(row.results[r]));
  return csv_line(fields);
}

RunTable::RunTable(fs::path path, RunColumns columns)
    : path_(std::move(path)), columns_(std::move(columns)) {}

fs::path RunTable::hdf5_path() const { return fs::path(path_).replace_extension(".h5"); }

RunRow RunTable::row_of(const std::vector<std::string>& fields, const std::string& place) const {
  const auto& [names, runs] = columns_.design;
  const double number = number_in(fields[0]);
  const auto run = number >= 1.0 && number <= static_cast<double>(runs.size())
                       ? static_cast<std::size_t>(number) - 1
                       : runs.size();
  if (run == runs.size() || !std::equal(runs[run].begin(), runs[run].end(), fields.begin() + 1))
    throw InputError(place + ": run " + in_quotes(fields[0]) +
                     " of this table has other values than that of this sweep; choose another "
                     "table with -o, or leave out --resume");
  auto field = fields.begin() + 1 + static_cast<std::ptrdiff_t>(names.size());
  RunRow row{.run = run};
  row.exit_code = static_cast<int>(parse_number(*field++).value_or(1.0));
  row.error = *field++;
  row.wall_time = number_in(*field++);
  row.file = *field++;
  if (row.exit_code == 0)
    std::transform(field, fields.end(), std::back_inserter(row.results), number_in);
  return row;
}

void RunTable::resume() {
  if (!fs::exists(path_)) return;
  const TextTable table = read_text_table(path_, UnfinishedLine::left_out);
  if (table.names != columns_.names())
    throw InputError("'" + path_.string() +
                     "' is the table of another sweep, with other parameters or results; choose "
                     "another with -o, or leave out --resume");
  for (const auto& fields : table.rows) {
    RunRow row = row_of(fields, "'" + path_.string() + "'");
    rows_[row.run] = std::move(row);
  }
}

std::vector<std::size_t> RunTable::missing() const {
  std::vector<std::size_t> result;
  for (std::size_t run = 0; run < columns_.design.runs.size(); ++run) {
    const auto row = rows_.find(run);
    if (row == rows_.end() || row->second.exit_code != 0) result.push_back(run);
  }
  return result;
}

const RunRow& RunTable::add(const std::string& line) {
  RunRow row = row_of(*csv_fields(line, ','), "a run's report");
  const std::size_t run = row.run;
  rows_[run] = std::move(row);
  if (!std::exchange(begun_, true)) {
    write_csv();
    return rows_[run];
  }
  try {
    SystemFile file(path_, O_WRONLY | O_APPEND);
    const std::string text = line + "\n";
    file.write(std::as_bytes(std::span(text)));
    file.close();
  } catch (const std::exception& error) {
    refuse_to_write(path_, error);
  }
  return rows_[run];
}

void RunTable::write_csv() const {
  std::string text = csv_line(columns_.names()) + "\n";
  for (const auto& [run, row] : rows_) text += line_of(columns_, row) + "\n";
  try {
    replace_file(path_, std::as_bytes(std::span(text)));
  } catch (const std::exception& error) {
    refuse_to_write(path_, error);
  }
}

void RunTable::write(const std::string& command_line, const std::string& model) const {
  write_csv();
  const Hdf5File file = file_in_memory();
  write_attribute(file, "concord_version", std::string(CONCORD_VERSION));
  write_attribute(file, "command_line", command_line);
  write_attribute(file, "model_name", model);
  write_columns(file, columns_, rows_);
  const auto image = image_of(file);
  try {
    replace_file(hdf5_path(), image);
  } catch (const std::exception& error) {
    refuse_to_write(hdf5_path(), error);
  }
}

}  // namespace concord
