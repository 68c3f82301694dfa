#include "record/results_reader.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_set>

#include "concord/errors.hpp"
#include "files/hdf5_io.hpp"
#include "record/results_schema.hpp"
#include "record/table_results.hpp"
#include "record/trial.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t bytes_per_read = std::size_t{4} << 20;

[[noreturn]] void not_ours(const std::string& reason) { throw Hdf5Error(reason); }

std::string what_is_wrong(const fs::path& path) try {
  std::error_code error;
  if (!fs::exists(path, error)) return "there is no such file";
  if (fs::is_directory(path, error)) return "it is a folder, not a results file";
  if (access(path.c_str(), R_OK) != 0) return std::strerror(errno);
  return is_hdf5_file(path) ? ""
                            : "it is not an HDF5 file, nor called as a table is (.csv, .tsv, .txt, "
                              ".mat, .parquet, .mf4)";
} catch (const Hdf5SystemError& failure) {
  return failure.what();
}

/// The `wanted` columns of `rows` rows; `read(first, count, values)` gives rows of `width` numbers.
template <class Read>
std::vector<std::vector<double>> columns_of(std::size_t width, std::size_t rows,
                                            std::span<const std::size_t> wanted, const Read& read) {
  const std::size_t at_once = std::min(rows, rows_per_read(width));
  std::vector<std::vector<double>> result(wanted.size(), std::vector<double>(rows));
  std::vector<double> block(at_once * width);
  for (std::size_t first = 0; first < rows; first += at_once) {
    const std::size_t count = std::min(at_once, rows - first);
    read(first, count, std::span(block));
    for (std::size_t i = 0; i < wanted.size(); ++i)
      for (std::size_t row = 0; row < count; ++row)
        result[i][first + row] = block[row * width + wanted[i]];
  }
  return result;
}

}  // namespace

ResultsReader::ResultsReader(const fs::path& path) : path_(path) {
  const std::string wrong = what_is_wrong(path);
  if (is_table(path)) {
    file_ = results_of_table(path);
    read_open();
    return;
  }
  if (!wrong.empty()) throw UnreadableResults("cannot read '" + path.string() + "': " + wrong);
  if (!survives_trial([this] { open(); }))
    throw UnreadableResults("cannot read '" + path.string() + "', it is damaged");
  open();
}

void ResultsReader::open() {
  const Hdf5Properties access = file_access();
  file_ = Hdf5File(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access));
  if (!file_)
    throw UnreadableResults("cannot read '" + path_.string() +
                            "', it is damaged or cut off: " + hdf5_error_reason());
  read_open();
}

void ResultsReader::read_open() {
  try {
    rows_ = RecordedRows(file_, path_);
  } catch (const Hdf5Error& error) {
    throw UnreadableResults("cannot read '" + path_.string() + "': " + error.what());
  }
  try {
    read_header();
  } catch (const Hdf5Error& error) {
    throw UnreadableResults("'" + path_.string() +
                            "' is not a Concord results file: " + error.what());
  } catch (const std::bad_alloc&) {
    throw InputError("'" + path_.string() + "' does not fit into memory");
  }
}

void ResultsReader::read_header() {
  read_string_attribute(file_, "concord_version");
  model_name_ = read_string_attribute(file_, "model_name");
  status_ = read_string_attribute(file_, "status");
  for (const ResultsDataset& dataset : results_datasets())
    if (dataset.has_variables() && exists_in(file_, dataset.path)) read_tables(dataset);
  read_time();
  find_events();
  std::unordered_set<std::string> seen;
  std::erase_if(variables_, [&](const RecordedVariable& v) { return !seen.insert(v.name).second; });
}

/// The variables of a group, and all that is recorded of them in each row.
void ResultsReader::read_tables(const ResultsDataset& variables) {
  const std::string group = variables.group();
  const auto names = read_strings(file_, (group + "/names").c_str());
  const auto units = read_strings(file_, (group + "/units").c_str());
  if (names.size() != units.size()) not_ours("'" + group + "' has more names than units, or fewer");
  const std::string shown = group + "/display_units";
  const auto display = exists_in(file_, shown) ? read_strings(file_, shown.c_str()) : units;
  if (names.size() != display.size()) not_ours("'" + shown + "' has not one entry per name");
  for (std::size_t i = 0; i < names.size(); ++i)
    variables_.push_back({names[i], units[i], variables.path, i, display[i]});
  for (const ResultsDataset& dataset : results_datasets())
    if (((dataset.group() == group && dataset.extents.front() == Extent::rows) ||
         dataset.path == "/events" + group || dataset.group() == right_limits_of(group) ||
         dataset.path == left_limits_of(group + "/derivatives")) &&
        exists_in(file_, dataset.path))
      open_table(dataset, names.size());
}

void ResultsReader::open_table(const ResultsDataset& dataset, std::size_t columns) {
  const auto shape = rows_.shape(dataset);
  if (shape[1] != columns) not_ours("'" + dataset.path + "' has not one column per name");
  const bool of_events = dataset.extents.front() == Extent::events;
  tables_.push_back({dataset.path, &dataset, of_events, shape[0], columns});
}

const ResultsReader::Table* ResultsReader::table(Quantity quantity) const {
  const auto found = std::find_if(tables_.begin(), tables_.end(),
                                  [&](const Table& t) { return t.quantity == quantity; });
  return found == tables_.end() ? nullptr : &*found;
}

bool ResultsReader::knows_slopes() const {
  return table("/outputs/derivatives") != nullptr || table("/states/derivatives") != nullptr;
}

std::size_t ResultsReader::columns(Quantity quantity) const {
  const Table* found = table(quantity);
  return found == nullptr ? 0 : found->columns;
}

void ResultsReader::read_time() {
  grid_ = exists_in(file_, "/steps/time");
  time_ = read_column("/time");
  std::size_t rows = time_.size();
  for (const Table& t : tables_)
    if (!t.of_events && t.columns > 0) rows = std::min(rows, t.rows);
  time_.resize(rows);
  if (rows == 0) not_ours("it holds no rows yet");
  for (std::size_t i = 0; i < rows; ++i)
    if (!std::isfinite(time_[i]) || (i > 0 && time_[i] <= time_[i - 1]))
      not_ours("'/time' does not increase at row " + std::to_string(i));
}

/// A dataset of one number per row.
std::vector<double> ResultsReader::read_column(std::string_view path) const {
  const ResultsDataset& dataset = dataset_of(path);
  std::vector<double> values(rows_.shape(dataset).front());
  rows_.read(dataset, 0, values.size(), 1, values.data());
  return values;
}

/// Instants whose rows are there.
void ResultsReader::find_events() {
  if (!exists_in(file_, "/events/time")) return;
  events_ = read_column("/events/time");
  std::size_t entries = events_.size();
  for (const Table& t : tables_)
    if (t.of_events && t.columns > 0) entries = std::min(entries, t.rows);
  events_.resize(entries);
  if (!std::is_sorted(events_.begin(), events_.end())) not_ours("'/events/time' does not increase");
  if (grid_) add_instants();
  for (std::size_t entry = 0; entry < entries; ++entry) {
    const auto row = std::lower_bound(time_.begin(), time_.end(), events_[entry]);
    const bool again = entry > 0 && events_[entry] == events_[entry - 1];
    if (row != time_.end() && *row == events_[entry] && !again)
      event_rows_.push_back({static_cast<std::size_t>(row - time_.begin()), entry});
  }
}

/// Of events that have no row.
void ResultsReader::add_instants() {
  std::vector<double> merged;
  std::size_t row = 0, entry = 0;
  while (row < time_.size() || entry < events_.size()) {
    const bool instant =
        entry < events_.size() && (row == time_.size() || events_[entry] < time_[row]);
    const double time = instant ? events_[entry] : time_[row];
    merged.push_back(time);
    places_.push_back({instant, instant ? entry : row++});
    while (entry < events_.size() && events_[entry] == time) ++entry;
  }
  time_ = std::move(merged);
}

std::vector<RecordedEvent> ResultsReader::read_events() const try {
  std::vector<RecordedEvent> result(events_.size());
  for (const ResultsDataset& dataset : results_datasets()) {
    const auto* texts = std::get_if<EventTexts>(&dataset.content);
    if (texts == nullptr || !exists_in(file_, dataset.path)) continue;
    std::vector<std::string> read = rows_.read_texts(dataset);
    for (std::size_t i = 0; i < std::min(read.size(), result.size()); ++i)
      result[i].*texts->text = std::move(read[i]);
  }
  return result;
} catch (const Hdf5Error& error) {
  throw UnreadableResults("cannot read '" + path_.string() + "', it is damaged: " + error.what());
}

std::vector<RecordedText> ResultsReader::read_texts() const try {
  std::vector<RecordedText> result;
  if (!exists_in(file_, "/texts/time")) return result;
  const std::vector<double> times = read_column("/texts/time");
  result.resize(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) result[i].time = times[i];
  for (const ResultsDataset& dataset : results_datasets()) {
    const auto* texts = std::get_if<ChangeTexts>(&dataset.content);
    if (texts == nullptr) continue;
    std::vector<std::string> read = rows_.read_texts(dataset);
    result.resize(std::min(result.size(), read.size()));
    for (std::size_t i = 0; i < result.size(); ++i) result[i].*texts->text = std::move(read[i]);
  }
  return result;
} catch (const Hdf5Error& error) {
  throw UnreadableResults("cannot read '" + path_.string() + "', it is damaged: " + error.what());
}

void ResultsReader::read_left_limits(Quantity quantity, std::size_t first, std::size_t count,
                                     std::span<double> values) const {
  const std::string left = left_limits_of(quantity);
  const std::size_t width = columns(quantity);
  for (std::size_t i = 0; i < count; ++i) {
    const EventRow& event = event_rows_[first + i];
    const auto to = values.subspan(i * width, width);
    if (table(left) != nullptr)
      read_table(left, event.entry, 1, to);
    else if (are_slopes(quantity))
      std::ranges::fill(to, std::numeric_limits<double>::quiet_NaN());
    else
      read_rows(quantity, event.row, 1, to);
  }
}

std::vector<std::string> ResultsReader::residuals() const {
  try {
    const auto names = read_strings(file_, "/subsystems/name");
    const auto kinds = read_strings(file_, "/subsystems/kind");
    std::vector<std::string> result;
    for (std::size_t k = 0; k < std::min(names.size(), kinds.size()); ++k)
      if (kinds[k].starts_with("constraint")) result.push_back(names[k] + ".residual");
    return result;
  } catch (const Hdf5Error& error) {
    throw UnreadableResults("'" + path_.string() +
                            "' is not a Concord results file: " + error.what());
  }
}

std::vector<RecordedCost> ResultsReader::costs() const {
  try {
    const auto names = read_strings(file_, "/subsystems/name");
    const auto times_in = [&](const std::string& path) {
      auto times = read_numbers(file_, path.c_str());
      if (times.size() != names.size()) not_ours("'" + path + "' has not one entry per subsystem");
      return times;
    };
    const auto advances = times_in("/subsystems/wall_time");
    std::vector<RecordedCost> result;
    for (std::size_t k = 0; k < names.size(); ++k)
      result.push_back({names[k], advances[k], advances[k]});
    for (const char* other : {"linearize_time", "output_time", "rollback_time", "event_time"}) {
      const std::string path = std::string("/subsystems/") + other;
      if (!exists_in(file_, path)) continue;  // of an older file
      const auto more = times_in(path);
      for (std::size_t k = 0; k < names.size(); ++k) result[k].all += more[k];
    }
    return result;
  } catch (const Hdf5Error& error) {
    throw UnreadableResults("'" + path_.string() +
                            "' is not a Concord results file: " + error.what());
  }
}

std::vector<double> ResultsReader::numbers(std::string_view path) const try {
  if (!exists_in(file_, std::string(path))) return {};
  const ResultsDataset& dataset = dataset_of(path);
  if (grows_within(dataset.extents.front())) return read_column(path);
  return read_numbers(file_, dataset.path.c_str());
} catch (const Hdf5Error& error) {
  throw UnreadableResults("cannot read '" + path_.string() + "', it is damaged: " + error.what());
}

std::vector<std::string> ResultsReader::texts(std::string_view path) const try {
  if (!exists_in(file_, std::string(path))) return {};
  return read_strings(file_, std::string(path).c_str());
} catch (const Hdf5Error& error) {
  throw UnreadableResults("cannot read '" + path_.string() + "', it is damaged: " + error.what());
}

std::string ResultsReader::text(const char* attribute) const try {
  return hdf5_check(H5Aexists(file_, attribute)) > 0 ? read_string_attribute(file_, attribute) : "";
} catch (const Hdf5Error& error) {
  throw UnreadableResults("cannot read '" + path_.string() + "', it is damaged: " + error.what());
}

double ResultsReader::number(const char* attribute) const {
  double value = std::numeric_limits<double>::quiet_NaN();
  if (hdf5_check(H5Aexists(file_, attribute)) == 0) return value;
  const Hdf5Attribute found(H5Aopen(file_, attribute, H5P_DEFAULT));
  if (!found || H5Aread(found, H5T_NATIVE_DOUBLE, &value) < 0)
    throw UnreadableResults("cannot read '" + path_.string() + "': its attribute '" + attribute +
                            "' is no number");
  return value;
}

const RecordedVariable* ResultsReader::find(const std::string& name) const {
  const auto found = std::find_if(variables_.begin(), variables_.end(),
                                  [&](const RecordedVariable& v) { return v.name == name; });
  return found == variables_.end() ? nullptr : &*found;
}

void ResultsReader::read_rows(Quantity quantity, std::size_t first, std::size_t count,
                              std::span<double> values) const {
  if (places_.empty())
    read_table(quantity, first, count, values);
  else
    read_merged(quantity, first, count, values);
}

/// Rows and entries of events that lie among each other are one stretch each.
void ResultsReader::read_merged(Quantity quantity, std::size_t first, std::size_t count,
                                std::span<double> values) const {
  const std::size_t width = columns(quantity);
  for (const bool of_event : {false, true}) {
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < count; ++i)
      if (places_[first + i].of_event == of_event) wanted.push_back(i);
    if (wanted.empty()) continue;
    const std::size_t begin = places_[first + wanted.front()].index;
    const std::size_t rows = places_[first + wanted.back()].index + 1 - begin;
    std::vector<double> stretch(rows * width, std::numeric_limits<double>::quiet_NaN());
    read_table(of_event ? right_limits_of(quantity) : std::string(quantity), begin, rows, stretch);
    for (const std::size_t i : wanted) {
      const auto from =
          std::span(stretch).subspan((places_[first + i].index - begin) * width, width);
      std::ranges::copy(from, values.begin() + static_cast<std::ptrdiff_t>(i * width));
    }
  }
}

void ResultsReader::read_table(Quantity quantity, std::size_t first, std::size_t count,
                               std::span<double> values) const {
  const Table* t = table(quantity);
  if (t == nullptr || count == 0 || t->columns == 0) return;
  try {
    rows_.read(*t->dataset, first, count, t->columns, values.data());
  } catch (const Hdf5Error& error) {
    throw UnreadableResults("cannot read '" + path_.string() + "', it is damaged: " + error.what());
  }
}

std::vector<std::vector<double>> ResultsReader::read_columns(
    Quantity quantity, std::span<const std::size_t> wanted) const {
  return columns_of(columns(quantity), time_.size(), wanted,
                    [&](std::size_t first, std::size_t count, std::span<double> values) {
                      read_rows(quantity, first, count, values);
                    });
}

std::vector<std::vector<double>> ResultsReader::read_left_columns(
    Quantity quantity, std::span<const std::size_t> wanted) const {
  return columns_of(columns(quantity), event_rows_.size(), wanted,
                    [&](std::size_t first, std::size_t count, std::span<double> values) {
                      read_left_limits(quantity, first, count, values);
                    });
}

std::string slopes_of(Quantity quantity) {
  return std::string(quantity.substr(0, quantity.rfind('/'))) + "/derivatives";
}

std::size_t rows_per_read(std::size_t columns) {
  return std::max<std::size_t>(
      1, bytes_per_read / (sizeof(double) * std::max<std::size_t>(1, columns)));
}

}  // namespace concord
