#include "record/run_files.hpp"

#include <fcntl.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <system_error>

#include "concord/errors.hpp"
#include "files/hdf5_io.hpp"
#include "files/ordered_file.hpp"
#include "files/whole_file.hpp"
#include "record/results_file.hpp"
#include "record/trial.hpp"
#include "record/virtual_rows.hpp"
#include "support/agreement.hpp"
#include "support/hdf5_error.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

/// "<run>-0001.h5".
std::string part_file(const std::string& run, std::size_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "-%04zu.h5", number);
  return run + text;
}

/// The number of a part of this run; 0: it is none.
std::size_t number_of(const fs::path& file, const std::string& run) {
  const std::string name = file.filename().string();
  if (run.empty() || !name.starts_with(run + "-") || file.extension() != ".h5") return 0;
  const std::string digits = name.substr(run.size() + 1, name.size() - run.size() - 4);
  const auto number = parse_number(digits);
  const bool ours = number && *number >= 1.0 && *number < 1e9 &&
                    part_file(run, static_cast<std::size_t>(*number)) == name;
  return ours ? static_cast<std::size_t>(*number) : 0;
}

/// From `first` on, by number.
std::vector<fs::path> parts_from(std::size_t first, const std::string& run,
                                 const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (number_of(entry.path(), run) >= first) found.push_back(entry.path());
  return found;
}

/// "": there is none, or it has no number.
std::string run_of(const fs::path& path) {
  const Hdf5Properties access = file_access();
  const Hdf5File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access));
  return file && H5Aexists(file, "run") > 0 ? read_string_attribute(file, "run") : "";
}

ResultsParts parts_of(const fs::path& path) {
  const Hdf5Properties access = file_access();
  const Hdf5File file(hdf5_check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access)));
  return read_parts(file);
}

/// None where the file has none or cannot be opened; nothing where HDF5 does not survive it.
std::optional<ResultsParts> parts_there(const fs::path& path) {
  ResultsParts found;
  const auto look = [&] { found = parts_of(path); };
  if (!survives_trial(look)) return std::nullopt;
  try {
    look();
  } catch (const Hdf5SystemError&) {
    throw;
  } catch (const Hdf5Error&) {
  }
  return found;
}

/// Which parts a run that goes on has, and how much of the last of them.
struct Kept {
  std::size_t last = 0;
  Lengths in_last;
};

Kept kept_parts(const ResultsParts& parts, const Lengths& left) {
  Kept kept;
  Lengths before;
  while (kept.last + 1 < parts.names.size() && left.covers(before + parts.lengths[kept.last]))
    before += parts.lengths[kept.last++];
  kept.in_last = left - before;
  return kept;
}

}  // namespace

RunFiles::RunFiles(const fs::path& path, ResultsLayout& layout)
    : path_(link_target(path)), unfinished_(unfinished_name(path_)), layout_(layout) {}

fs::path RunFiles::folder() const { return path_.string() + ".parts"; }

fs::path RunFiles::part(std::size_t index) const {
  return path_.parent_path() / layout_.parts.names[index];
}

ResultsLayout RunFiles::layout_of_part() const {
  ResultsLayout layout = layout_;
  layout.parts = {};
  layout.is_part = true;
  return layout;
}

void RunFiles::require_free() const {
  require_replaceable(path_, layout_.model_name);
  std::error_code error;
  if (layout_.part_bytes > 0 && fs::exists(folder(), error) && !fs::is_directory(folder(), error))
    throw InputError("cannot write parts of the results file '" + path_.string() + "': '" +
                     folder().string() +
                     "' is not a folder; move it away, or choose another file with -cosim_output");
}

std::string RunFiles::run_there() const { return run_of(path_); }

void RunFiles::create() {
  rows_ = unfinished_;
  if (layout_.part_bytes > 0) add_part();
  create_empty_results(unfinished_, layout_, static_cast<int>(layout_.ranks));
}

void RunFiles::appear() {
  const std::string earlier = run_there();
  if (!layout_.parts.empty()) reserve_room_for_end(unfinished_);
  fs::rename(unfinished_, path_);
  if (layout_.parts.empty()) rows_ = path_;
  std::error_code ignored;
  for (const fs::path& old : parts_from(1, earlier, folder())) fs::remove(old, ignored);
  if (fs::is_empty(folder(), ignored)) fs::remove(folder(), ignored);
}

void RunFiles::withdraw() {
  std::error_code ignored;
  fs::remove(unfinished_, ignored);
  if (!layout_.parts.empty()) fs::remove(part(0), ignored);
}

/// Without rows, behind those that there are.
void RunFiles::add_part() {
  const bool first = layout_.parts.empty();
  const fs::path place =
      first ? folder().filename() : fs::path(layout_.parts.names.front()).parent_path();
  const std::string name = place / part_file(layout_.run, layout_.parts.names.size() + 1);
  const fs::path made = path_.parent_path() / name;
  if (first) fs::create_directory(folder());
  if (fs::exists(made)) throw Hdf5Error("'" + made.string() + "' is in the way");
  create_empty_results(made, layout_of_part(), static_cast<int>(layout_.ranks));
  layout_.parts.names.push_back(name);
  layout_.parts.lengths.emplace_back();
  rows_ = made;
}

void RunFiles::begin_part(const Lengths& written) {
  if (layout_.compression > 0) rewrite_results(rows_, layout_of_part(), layout_.compression);
  add_part();
  layout_.parts.lengths.end()[-2] = written - before_;
  before_ = written;
  shown_ = false;
}

void RunFiles::show_part() {
  show_parts(path_, layout_, false);
  shown_ = true;
}

/// The last one, which holds nothing that is shown.
void RunFiles::drop_part() {
  std::error_code ignored;
  fs::remove(rows_, ignored);
  layout_.parts.names.pop_back();
  layout_.parts.lengths.pop_back();
  shown_ = true;
}

std::optional<ResultsObstacle> RunFiles::obstacle(const ResultsPosition& left) const {
  const auto parts = fs::exists(path_) ? parts_there(path_) : ResultsParts();
  if (!parts) return ResultsObstacle{"it is damaged", true};
  if (parts->empty()) return obstacle_in(path_, layout_, left);
  ResultsLayout shown = layout_;
  shown.parts = *parts;
  if (const auto found = obstacle_in(path_, shown, left)) return found;
  const Kept kept = kept_parts(*parts, left.lengths);
  for (std::size_t i = 0; i <= kept.last; ++i) {
    const ResultsPosition whole{left.run, i < kept.last ? parts->lengths[i] : kept.in_last};
    if (auto found = obstacle_in(path_.parent_path() / parts->names[i], layout_of_part(), whole))
      return ResultsObstacle{"its part '" + parts->names[i] + "': " + found->reason, found->lost};
  }
  return std::nullopt;
}

void RunFiles::go_on(const ResultsPosition& left) {
  layout_.parts = parts_of(path_);
  layout_.run = left.run;
  rows_ = path_;
  if (!layout_.parts.empty()) return keep_parts(left);
  if (layout_.part_bytes > 0) return make_first_part(left);
  continue_results(path_, path_, layout_, left);
}

fs::path RunFiles::set_aside() const {
  std::error_code error;
  const std::string name = path_.string() + ".aside";
  fs::path aside = name;
  for (int i = 2; fs::exists(aside, error); ++i) aside = name + std::to_string(i);
  fs::rename(path_, aside);
  return aside;
}

/// The file that shows fewer parts comes first: whatever is cut then is shown as it is.
void RunFiles::keep_parts(const ResultsPosition& left) {
  const Kept kept = kept_parts(layout_.parts, left.lengths);
  before_ = left.lengths - kept.in_last;
  layout_.parts.names.resize(kept.last + 1);
  layout_.parts.lengths.resize(kept.last + 1);
  layout_.parts.lengths[kept.last] = {};
  show_parts(path_, layout_, true);
  rows_ = part(kept.last);
  continue_results(rows_, rows_, layout_of_part(), {left.run, kept.in_last});
  for (const fs::path& later : parts_from(kept.last + 2, layout_.run, rows_.parent_path()))
    fs::remove(later);
}

/// A run that goes on with parts: what it has written so far is the first of them.
void RunFiles::make_first_part(const ResultsPosition& left) {
  const std::string name = folder().filename() / part_file(layout_.run, 1);
  fs::create_directory(folder());
  for (const fs::path& left_over : parts_from(1, layout_.run, folder())) fs::remove(left_over);
  rows_ = path_.parent_path() / name;
  layout_.parts = {{name}, {{}}};
  continue_results(path_, rows_, layout_of_part(), left);
  show_parts(path_, layout_, true);
}

void RunFiles::sync() const {
  SystemFile(rows_, O_RDONLY).sync();
  if (rows_ == path_) return sync_folder_of(path_);
  SystemFile(path_, O_RDONLY).sync();
  sync_folder_of(rows_);
  sync_folder_of(path_);
}

void RunFiles::end(const ResultsEnd& end, const Lengths& written) {
  if (!shown_)
    drop_part();
  else if (!layout_.parts.empty())
    layout_.parts.lengths.back() = written - before_;
  reserve_room_for_end(path_);
  const Hdf5Properties access = file_access();
  Hdf5File file(hdf5_check(H5Fopen(path_.c_str(), H5F_ACC_RDWR, access)));
  write_end(file, layout_, end);
  close_in_order(file);
}

void RunFiles::compress() const {
  if (layout_.compression > 0)
    rewrite_results(rows_, layout_.parts.empty() ? layout_ : layout_of_part(), layout_.compression);
}

void RunFiles::share(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  rows_ = agree_on_text(comm, rank == 0 ? std::optional(rows_.string()) : std::nullopt).value();
  std::array<std::uint64_t, 4> before{before_.rows, before_.steps, before_.events, before_.texts};
  MPI_Bcast(before.data(), 4, MPI_UINT64_T, 0, comm);
  before_ = {before[0], before[1], before[2], before[3]};
}

}  // namespace concord
