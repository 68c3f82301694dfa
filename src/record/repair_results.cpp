#include "record/repair_results.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>

#include "concord/errors.hpp"
#include "files/child_process.hpp"
#include "files/hdf5_io.hpp"
#include "files/whole_file.hpp"
#include "files/writer_lock.hpp"
#include "record/results_file.hpp"
#include "record/results_schema.hpp"
#include "record/virtual_rows.hpp"
#include "support/hdf5_error.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

constexpr unsigned most_seconds = 86400;
constexpr std::uint64_t bytes_at_once = std::uint64_t{4} << 20;

fs::path salvaged_name(const fs::path& path) {
  return path.parent_path() / ("." + path.filename().string() + ".salvaged");
}

fs::path extended_name(const fs::path& path) {
  return path.parent_path() / ("." + path.filename().string() + ".extended");
}

/// Where a file of superblock 0 says that it ends: HDF5 File Format Specification 3.0, II.A. Those
/// of others, which other programs have written, are taken as they are.
std::uintmax_t told_end(const fs::path& path) {
  constexpr std::size_t version = 8, end_of_file_address = 40;
  std::array<unsigned char, end_of_file_address + 8> bytes{};
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), bytes.size());
  if (!file || bytes[version] != 0) return 0;
  std::uintmax_t end = 0;
  for (std::size_t i = bytes.size(); i-- > end_of_file_address;) end = end << 8 | bytes[i];
  return end;
}

RecordedColumns columns_in(hid_t file, const std::string& group) {
  RecordedColumns columns;
  columns.recorded = exists_in(file, group + "/names");
  if (columns.recorded) columns.total = rows_of(file, (group + "/names").c_str());
  return columns;
}

/// What the file has of what files can have.
ResultsLayout layout_in(hid_t file) {
  ResultsLayout layout;
  layout.outputs = columns_in(file, "/outputs");
  layout.inputs = columns_in(file, "/inputs");
  layout.states = columns_in(file, "/states");
  layout.balance = columns_in(file, "/balance");
  if (exists_in(file, "/inputs/polynomials")) {
    const Hdf5Dataset polynomials(hdf5_check(H5Dopen2(file, "/inputs/polynomials", H5P_DEFAULT)));
    layout.coefficients = shape_of(polynomials).at(2);
  }
  layout.slopes = exists_in(file, "/outputs/derivatives") || exists_in(file, "/states/derivatives");
  layout.grid = exists_in(file, "/steps/time");
  layout.parts = read_parts(file);
  if (exists_in(file, "/network/output")) layout.link_outputs.resize(1);
  if (exists_in(file, "/texts/names")) layout.text_names = read_strings(file, "/texts/names");
  return layout;
}

/// The rows from the first on that lie before `end`, by where their chunks are.
hsize_t rows_before(hid_t dataset, std::uintmax_t end) {
  const std::vector<hsize_t> shape = shape_of(dataset);
  const Hdf5Properties creation(hdf5_check(H5Dget_create_plist(dataset)));
  std::vector<hsize_t> chunk(shape.size()), at(shape.size(), 0);
  hdf5_check(H5Pget_chunk(creation, static_cast<int>(chunk.size()), chunk.data()));
  const hsize_t columns = shape.size() > 1 ? shape[1] : 1, width = shape.size() > 1 ? chunk[1] : 1;
  for (; at[0] < shape[0]; at[0] += chunk[0])
    for (hsize_t column = 0; column < columns; column += width) {
      if (shape.size() > 1) at[1] = column;
      unsigned filters = 0;
      haddr_t address = HADDR_UNDEF;
      hsize_t bytes = 0;
      const bool found =
          H5Dget_chunk_info_by_coord(dataset, at.data(), &filters, &address, &bytes) >= 0 &&
          address != HADDR_UNDEF;
      if (found && address + bytes <= end) continue;
      const bool begun = found && address < end && columns <= width;
      return begun ? std::min(at[0] + (end - address) / (bytes / chunk[0]), shape[0]) : at[0];
    }
  return shape[0];
}

/// Rows from the first on that can be read.
hsize_t readable_rows(hid_t file, const char* path, hsize_t most) {
  const Hdf5Dataset dataset(hdf5_check(H5Dopen2(file, path, H5P_DEFAULT)));
  const Hdf5Datatype type(hdf5_check(H5Dget_type(dataset)));
  std::vector<hsize_t> size = shape_of(dataset), start(size.size(), 0);
  hsize_t row_bytes = H5Tget_size(type);
  for (std::size_t i = 1; i < size.size(); ++i) row_bytes *= size[i];
  if (row_bytes == 0) return most;
  const hsize_t at_once = std::max<hsize_t>(bytes_at_once / row_bytes, 1);
  std::vector<std::byte> block(at_once * row_bytes);
  for (start[0] = 0; start[0] < most; start[0] += size[0]) {
    size[0] = std::min(at_once, most - start[0]);
    const Hdf5Dataspace in_memory(
        hdf5_check(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr)));
    const Hdf5Dataspace in_file(hdf5_check(H5Dget_space(dataset)));
    hdf5_check(
        H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr));
    if (H5Dread(dataset, type, in_memory, in_file, H5P_DEFAULT, block.data()) < 0) return start[0];
  }
  return most;
}

hsize_t readable_texts(hid_t file, const char* path) {
  const auto can_read = [&](hsize_t count) {
    try {
      read_strings(file, path, count);
      return true;
    } catch (const Hdf5Error&) {
      return false;
    }
  };
  hsize_t good = 0, bad = rows_of(file, path) + 1;
  while (good + 1 < bad) {
    const hsize_t middle = bad - good > 2 && good == 0 ? bad - 1 : (good + bad) / 2;
    (can_read(middle) ? good : bad) = middle;
  }
  return good;
}

/// What can be read of a file with rows of its own.
class Survey {
 public:
  /// `end`: of what is really there.
  Survey(hid_t file, const ResultsLayout& layout, std::uintmax_t end) {
    for (const ResultsDataset& dataset : results_datasets())
      if (dataset.exists(layout) && grows_within(dataset.extents[0])) look_at(file, dataset, end);
    keep_rising_times(file);
    const double last = last_time(file, layout);
    whole.events = entries_until(file, "/events/time", whole.events, last);
    whole.texts =
        layout.text_names.empty() ? 0 : entries_until(file, "/texts/time", whole.texts, last);
    if (!layout.grid) keep_steps_between_rows(layout);
  }

  static constexpr std::uint64_t unknown = std::uint64_t{1} << 62;
  Lengths whole{unknown, unknown, unknown, unknown};
  Lengths told{};  ///< the most that a dataset says

 private:
  void look_at(hid_t file, const ResultsDataset& dataset, std::uintmax_t end) {
    const char* path = dataset.path.c_str();
    const hsize_t rows = rows_of(file, path);
    hsize_t found = 0;
    if (dataset.number == Number::text) {
      found = readable_texts(file, path);
    } else {
      const Hdf5Dataset opened(hdf5_check(H5Dopen2(file, path, H5P_DEFAULT)));
      const bool all = end == unknown && has_place_for(opened, rows);
      found = readable_rows(file, path, all ? rows : rows_before(opened, end));
    }
    const Extent extent = dataset.extents[0];
    std::uint64_t Lengths::*length = extent == Extent::events  ? &Lengths::events
                                     : extent == Extent::texts ? &Lengths::texts
                                     : extent == Extent::steps ? &Lengths::steps
                                                               : &Lengths::rows;
    whole.*length = std::min<std::uint64_t>(whole.*length, found);
    told.*length = std::max<std::uint64_t>(told.*length, rows);
  }

  void keep_rising_times(hid_t file) {
    const auto time = first_numbers(file, "/time", whole.rows);
    hsize_t rows = 0;
    while (rows < time.size() && std::isfinite(time[rows]) &&
           (rows == 0 || time[rows] > time[rows - 1]))
      ++rows;
    whole.rows = rows;
  }

  /// Of the last macro-step that is there.
  double last_time(hid_t file, const ResultsLayout& layout) const {
    const auto ends = layout.grid ? first_numbers(file, "/steps/time", whole.steps)
                                  : first_numbers(file, "/time", whole.rows);
    return ends.empty() ? -HUGE_VAL : ends.back();
  }

  static std::uint64_t entries_until(hid_t file, const char* path, std::uint64_t count,
                                     double last) {
    const auto times = first_numbers(file, path, count);
    return static_cast<std::uint64_t>(
        std::find_if_not(times.begin(), times.end(), [&](double t) { return t <= last; }) -
        times.begin());
  }

  /// The first row has no macro-step before it; it is not in every part.
  void keep_steps_between_rows(const ResultsLayout& layout) {
    const bool has_first = !layout.is_part || told.rows > told.steps;
    const std::uint64_t without = has_first ? 1 : 0;
    whole.steps = std::min(whole.steps, std::max(whole.rows, without) - without);
    whole.rows = std::min(whole.rows, whole.steps + without);
  }

  static std::vector<double> first_numbers(hid_t file, const char* path, hsize_t count) {
    std::vector<double> values(count);
    if (count == 0) return values;
    const Hdf5Dataset dataset(hdf5_check(H5Dopen2(file, path, H5P_DEFAULT)));
    const Hdf5Dataspace in_file(hdf5_check(H5Dget_space(dataset)));
    const hsize_t first = 0;
    hdf5_check(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &first, nullptr, &count, nullptr));
    const Hdf5Dataspace in_memory(hdf5_check(H5Screate_simple(1, &count, nullptr)));
    hdf5_check(H5Dread(dataset, H5T_NATIVE_DOUBLE, in_memory, in_file, H5P_DEFAULT, values.data()));
    return values;
  }
};

std::string status_in(hid_t file) {
  try {
    return read_string_attribute(file, "status");
  } catch (const Hdf5Error&) {
    return "";
  }
}

/// What a child process finds out of a file, and does: it may end in it.
struct Found {
  Lengths whole, told;
  bool writes = false, cut = false;
  std::string status;

  std::string text() const {
    std::ostringstream out;
    for (const Lengths& lengths : {whole, told})
      out << lengths.rows << ' ' << lengths.steps << ' ' << lengths.events << ' ' << lengths.texts
          << ' ';
    out << writes << ' ' << cut << ' ' << (status.empty() ? "?" : status);
    return out.str();
  }
  static Found from(const std::string& text) {
    Found found;
    std::istringstream in(text);
    for (Lengths* lengths : {&found.whole, &found.told})
      in >> lengths->rows >> lengths->steps >> lengths->events >> lengths->texts;
    in >> found.writes >> found.cut >> found.status;
    return found;
  }
};

bool is_over(const std::string& status) {
  return !status.empty() && status != to_string(RunStatus::running);
}

Found look_and_salvage(const fs::path& path, const fs::path& readable, std::uintmax_t end) {
  const Hdf5Quiet quiet;
  const Hdf5Properties access = file_access();
  ResultsLayout layout;
  Found found;
  {
    const Hdf5File file(hdf5_check(H5Fopen(readable.c_str(), H5F_ACC_RDONLY, access)));
    layout = layout_in(file);
    found.status = status_in(file);
    layout.is_part = found.status == "part";
    const Survey survey(file, layout, end);
    found.whole = survey.whole;
    found.told = survey.told;
  }
  found.cut = end != Survey::unknown;
  found.writes = found.cut || !found.whole.covers(found.told) || !is_over(found.status);
  if (found.writes) salvage_results(readable, salvaged_name(path), layout, found.whole);
  return found;
}

[[noreturn]] void give_up(const fs::path& path, const std::string& reason) {
  throw InputError("cannot repair " + in_quotes(path.string()) + ": " + reason);
}

/// In a child process, whose one record it is.
Found in_child(const fs::path& path, const std::function<Found()>& work) {
  const ChildReport report =
      in_child_process(most_seconds, [&](const auto& send) { send("found " + work().text()); });
  for (const std::string& record : report.records) {
    if (record.starts_with("found ")) return Found::from(record.substr(6));
    if (record.starts_with("stopped ")) give_up(path, record.substr(8));
  }
  give_up(path, "HDF5 does not survive reading it");
}

Found salvage(const fs::path& path) {
  const std::uintmax_t size = fs::file_size(path), told = told_end(path);
  if (!is_hdf5_file(path)) give_up(path, "it is no HDF5 file");
  if (told <= size)
    return in_child(path, [&] { return look_and_salvage(path, path, Survey::unknown); });
  const fs::path extended = extended_name(path);
  const auto removed = [&] {
    std::error_code ignored;
    fs::remove(extended, ignored);
  };
  try {
    fs::copy_file(path, extended, fs::copy_options::overwrite_existing);
    fs::resize_file(extended, told);
    const Found found = in_child(path, [&] { return look_and_salvage(path, extended, size); });
    removed();
    return found;
  } catch (const fs::filesystem_error& error) {
    removed();
    give_up(path, error.code().message() + "; make room for two copies of it");
  } catch (...) {
    removed();
    throw;
  }
}

fs::path free_name(const fs::path& path) {
  const std::string name = path.string() + ".damaged";
  fs::path free = name;
  for (int i = 2; fs::exists(free); ++i) free = name + std::to_string(i);
  return free;
}

void tell_lost(const char* what, std::uint64_t whole, std::uint64_t told, RepairReport& report) {
  if (whole < told)
    report.lost.push_back(std::to_string(told - whole) + " of " + std::to_string(told) + " " +
                          what);
}

/// A file with rows of its own.
RepairReport repair_file(const fs::path& path) {
  const Found found = salvage(path);
  RepairReport report;
  report.whole = found.whole;
  report.status = found.status;
  tell_lost("rows", found.whole.rows, found.told.rows, report);
  tell_lost("macro-steps", found.whole.steps, found.told.steps, report);
  tell_lost("events", found.whole.events, found.told.events, report);
  tell_lost("changes of texts", found.whole.texts, found.told.texts, report);
  if (!found.writes) return report;
  report.changed = true;
  if (found.status != "part") report.status = to_string(RunStatus::interrupted);
  if (found.cut || !report.lost.empty() || found.status == "?") {
    report.kept_as = free_name(path);
    fs::create_hard_link(path, report.kept_as);
  }
  fs::rename(salvaged_name(path), path);
  sync_folder_of(path);
  return report;
}

/// Above parts.
RepairReport repair_parts(const fs::path& path, ResultsLayout layout, const std::string& status) {
  RepairReport report;
  report.status = status;
  auto& [names, lengths] = layout.parts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const fs::path part = path.parent_path() / names[i];
    if (!fs::exists(part)) give_up(path, "its part " + in_quotes(names[i]) + " is not there");
    RepairReport of_part = repair_file(part);
    for (const std::string& lost : of_part.lost) report.lost.push_back(names[i] + ": " + lost);
    const bool last = i + 1 == names.size(), shorter = !of_part.whole.covers(lengths[i]);
    report.changed = report.changed || of_part.changed || shorter || (last && !is_over(status));
    lengths[i] = of_part.whole;
    report.whole += of_part.whole;
    if (!last && shorter) {
      report.lost.push_back("the parts behind " + names[i]);
      names.resize(i + 1);
      lengths.resize(i + 1);
    }
  }
  if (!report.changed) return report;
  in_child(path, [&] {
    salvage_results(path, salvaged_name(path), layout, {});
    return Found();
  });
  report.status = to_string(RunStatus::interrupted);
  fs::rename(salvaged_name(path), path);
  sync_folder_of(path);
  return report;
}

}  // namespace

RepairReport repair_results(const fs::path& given) {
  const fs::path path = link_target(given);
  if (!fs::is_regular_file(path)) give_up(path, "there is no such file");
  if (is_being_written(path)) give_up(path, "a run is writing it; wait for its end");
  ResultsLayout layout;
  std::string status;
  {
    const Hdf5Quiet quiet;
    const Hdf5Properties access = file_access();
    const Hdf5File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access));
    if (file && H5Lexists(file, "parts", H5P_DEFAULT) > 0) {
      layout = layout_in(file);
      status = status_in(file);
    }
  }
  return layout.parts.empty() ? repair_file(path) : repair_parts(path, layout, status);
}

}  // namespace concord
