#include "record/results_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "concord/errors.hpp"
#include "files/hdf5_io.hpp"
#include "files/whole_file.hpp"
#include "record/dimension_labels.hpp"
#include "record/results_schema.hpp"
#include "record/trial.hpp"
#include "record/virtual_rows.hpp"
#include "support/hdf5_error.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

constexpr hsize_t chunk_bytes = hsize_t{1} << 20;
constexpr hsize_t most_chunk_events = 64;  // most runs have few

/// Chunk of about a megabyte at most, of whole rows where a row is not larger than that.
hsize_t chunk_columns(hsize_t columns, hsize_t column_bytes) {
  return std::clamp<hsize_t>(columns, 1, chunk_bytes / column_bytes);
}

hsize_t chunk_rows(hsize_t columns, hsize_t column_bytes, hsize_t most) {
  const hsize_t row_bytes = chunk_columns(columns, column_bytes) * column_bytes;
  return std::clamp<hsize_t>(chunk_bytes / row_bytes, 1, most);
}

Hdf5Datatype stored_type(Number number) {
  if (number == Number::text) return utf8_string_type();
  const hid_t type = number == Number::i32   ? H5T_STD_I32LE
                     : number == Number::i64 ? H5T_STD_I64LE
                                             : H5T_IEEE_F64LE;
  return Hdf5Datatype(hdf5_check(H5Tcopy(type)));
}

/// A dataset [rows], [rows, columns] or [rows, columns, inner] without rows.
void create_chunked(hid_t file, const ResultsDataset& dataset, const ResultsLayout& layout) {
  const std::size_t rank = dataset.extents.size();
  const bool rare = dataset.extents[0] == Extent::events || dataset.extents[0] == Extent::texts;
  const hsize_t most_rows =
      dataset.number == Number::text || rare ? most_chunk_events : most_chunk_rows;
  std::array<hsize_t, 3> now{0, 1, 1}, most{H5S_UNLIMITED, 1, 1}, chunk{most_rows, 1, 1};
  for (std::size_t i = 1; i < rank; ++i) now[i] = size_of(dataset.extents[i], layout);
  if (rank > 1) {
    const hsize_t column_bytes = now[2] * sizeof(double);
    most = {H5S_UNLIMITED, now[1] > 0 ? now[1] : H5S_UNLIMITED, now[2]};
    chunk = {chunk_rows(now[1], column_bytes, most_rows), chunk_columns(now[1], column_bytes),
             now[2]};
  }
  const auto dimensions = static_cast<int>(rank);
  const Hdf5Dataspace space(hdf5_check(H5Screate_simple(dimensions, now.data(), most.data())));
  const Hdf5Properties creation(hdf5_check(H5Pcreate(H5P_DATASET_CREATE)));
  hdf5_check(H5Pset_chunk(creation, dimensions, chunk.data()));
  hdf5_check(H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY));
  if (dataset.number != Number::text) hdf5_check(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER));
  const Hdf5Dataset created(
      hdf5_check(H5Dcreate2(file, dataset.path.c_str(), stored_type(dataset.number), space,
                            H5P_DEFAULT, creation, H5P_DEFAULT)));
}

void create_growing(hid_t file, const ResultsDataset& dataset, const ResultsLayout& layout) {
  if (layout.parts.empty() || !grows_within(dataset.extents[0]))
    return create_chunked(file, dataset, layout);
  create_virtual_rows(file, dataset, layout, stored_type(dataset.number));
}

}  // namespace

void create_dataset(hid_t file, const ResultsDataset& dataset, const ResultsLayout& layout) {
  if (dataset.grows()) return create_growing(file, dataset, layout);
  const char* path = dataset.path.c_str();
  if (const auto* texts = std::get_if<KnownTexts>(&dataset.content))
    return write_dataset(file, path, texts->of(layout));
  std::vector<double> numbers;
  if (const auto* known = std::get_if<KnownNumbers>(&dataset.content))
    numbers = known->of(layout);
  else
    numbers.assign(size_of(dataset.extents[0], layout),
                   std::get<FinalNumbers>(dataset.content).before);
  write_dataset(file, path, stored_type(dataset.number), numbers);
}

namespace {

/// Another run writes the file from here on.
void append_run(hid_t file, const ResultsLayout& layout) {
  for (const ResultsDataset& dataset : results_datasets()) {
    const auto* texts = std::get_if<RunTexts>(&dataset.content);
    if (texts == nullptr) continue;
    const char* path = dataset.path.c_str();
    append_strings(file, path, rows_of(file, path),
                   std::span(&(layout.run_record.*texts->text), 1));
  }
}

/// What follows from the number of ranks, which may be another one than before.
void renew_ranks(hid_t file, const ResultsLayout& layout) {
  for (const ResultsDataset& dataset : results_datasets()) {
    if (!dataset.exists(layout)) continue;
    const char* path = dataset.path.c_str();
    if (const auto* known = std::get_if<KnownNumbers>(&dataset.content)) {
      overwrite_dataset(file, path, known->of(layout));
    } else if (dataset.extents[0] == Extent::ranks) {
      hdf5_check(H5Ldelete(file, path, H5P_DEFAULT));
      create_dataset(file, dataset, layout);
    }
  }
  overwrite_attribute(file, "ranks", static_cast<std::int32_t>(layout.ranks));
}

/// The dataset or the group that has the attribute.
Hdf5Object object_of(hid_t file, const ResultsAttribute& attribute) {
  return Hdf5Object(hdf5_check(H5Oopen(file, attribute.object, H5P_DEFAULT)));
}

/// The file without rows, made in memory.
Hdf5File empty_results(const ResultsLayout& layout, int ranks) {
  Hdf5File file = file_in_memory();
  for (const ResultsDataset& dataset : results_datasets()) {
    if (!dataset.exists(layout)) continue;
    create_group(file, dataset.group());
    create_dataset(file, dataset, layout);
  }
  label_dimensions(file, layout);
  append_run(file, layout);
  for (const ResultsAttribute& attribute : results_attributes()) {
    const Hdf5Object object = object_of(file, attribute);
    std::visit([&](const auto& value) { write_attribute(object, attribute.name, value); },
               attribute.begin(layout, ranks));
  }
  return file;
}

/// Rows that are not those of parts.
bool has_own_rows(const ResultsDataset& dataset, const ResultsLayout& layout) {
  return grows_within(dataset.extents[0]) && layout.parts.empty();
}

/// A sound file, but not that of the run.
class OfAnotherRun : public Hdf5Error {
 public:
  using Hdf5Error::Hdf5Error;
};

/// Throws Hdf5Error where it has fewer.
void require_rows(hid_t file, const ResultsDataset& dataset, hsize_t rows) {
  const char* path = dataset.path.c_str();
  const hsize_t found = rows_of(file, path);
  if (found < rows)
    throw Hdf5Error("'" + dataset.path + "' has " + std::to_string(found) + " rows, not " +
                    std::to_string(rows));
  const Hdf5Dataset opened(hdf5_check(H5Dopen2(file, path, H5P_DEFAULT)));
  if (!has_place_for(opened, rows))
    throw Hdf5Error("rows of '" + dataset.path + "' are not in the file");
  if (dataset.number == Number::text) read_strings(file, path, rows);
}

/// Throws Hdf5Error where the dataset in the file is another one, or shorter. Of the model's files
/// the checkpoint knows better.
void require_continues(hid_t file, const ResultsDataset& dataset, const ResultsLayout& layout,
                       const Lengths& left) {
  if (!exists_in(file, dataset.path)) throw Hdf5Error("'" + dataset.path + "' is missing");
  if (const auto* texts = std::get_if<KnownTexts>(&dataset.content)) {
    const bool may_move = dataset.extents.front() == Extent::files;
    if (!may_move && read_strings(file, dataset.path.c_str()) != texts->of(layout))
      throw OfAnotherRun("'" + dataset.path + "' is that of another run");
  } else if (has_own_rows(dataset, layout)) {
    require_rows(file, dataset, length_of(dataset.extents[0], left));
  }
}

/// Throws OfAnotherRun, or Hdf5Error where it is damaged.
void require_continuable(const fs::path& path, const ResultsLayout& layout,
                         const ResultsPosition& left) {
  const Hdf5Properties access = file_access();
  const Hdf5File file(hdf5_check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access)));
  if (hdf5_check(H5Aexists(file, "run")) == 0 && !exists_in(file, "/runs"))
    throw OfAnotherRun("it is no results file of Concord");
  if (hdf5_check(H5Aexists(file, "replaced_run")) > 0 &&
      read_string_attribute(file, "replaced_run") == left.run)
    throw Hdf5Error("its rows begin at a checkpoint");
  if (read_string_attribute(file, "run") != left.run)
    throw OfAnotherRun("it is that of another run");
  for (const ResultsDataset& dataset : results_datasets())
    if (dataset.exists(layout)) require_continues(file, dataset, layout, left.lengths);
}

/// What a failure of the machine has left empty may have been one.
bool is_hdf5_or_empty(const fs::path& path) {
  std::error_code error;
  return fs::file_size(path, error) == 0 || is_hdf5_file(path);
}

constexpr const char* remedy =
    "; it was left untouched: choose another file with -cosim_output, or move it away";

/// Model name of the results file at `path`; throws InputError when it is not a results file.
std::string model_of_results(const fs::path& path) {
  const Hdf5Properties access = file_access();
  const Hdf5File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access));
  if (!file)
    throw InputError("'" + path.string() + "' exists and is not a readable HDF5 file (" +
                     hdf5_error_reason() + ")" + remedy);
  try {
    read_string_attribute(file, "concord_version");
    if (!exists_in(file, "/time")) throw Hdf5Error("'/time' is missing");
    return read_string_attribute(file, "model_name");
  } catch (const Hdf5Error& error) {
    throw InputError("'" + path.string() + "' exists and is not a Concord results file (" +
                     error.what() + ")" + remedy);
  }
}

void require_writable_folder(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    throw InputError("cannot write the results file '" + path.string() + "': there is no folder '" +
                     folder.string() + "'; create it or choose another file with -cosim_output");
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw InputError("cannot write the results file '" + path.string() + "': the folder '" +
                     folder.string() + "' is not writable (" + std::strerror(errno) +
                     "); choose another file with -cosim_output");
}

}  // namespace

void require_replaceable(const fs::path& path, const std::string& model_name) {
  if (!path.has_filename()) throw InputError("'" + path.string() + "' is not a file name");
  require_writable_folder(path);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return;
  if (!fs::is_regular_file(status))
    throw InputError("cannot write the results file '" + path.string() + "': it is " +
                     (fs::is_directory(status) ? "a folder" : "not a regular file") +
                     "; choose another file with -cosim_output");
  if (access(path.c_str(), W_OK) != 0)
    throw InputError("cannot replace the results file '" + path.string() + "' (" +
                     std::strerror(errno) + "); choose another file with -cosim_output");
  if (!survives_trial([&] { model_of_results(path); }))
    throw InputError("'" + path.string() + "' exists and is a damaged HDF5 file" + remedy);
  const std::string found = model_of_results(path);
  if (found != model_name)
    throw InputError("'" + path.string() + "' holds results of another model, '" + found +
                     "', not of '" + model_name + "'" + remedy);
}

void create_empty_results(const fs::path& path, const ResultsLayout& layout, int ranks) {
  const Hdf5File file = empty_results(layout, ranks);
  try {
    write_file(path, image_of(file));
  } catch (...) {
    std::error_code ignored;
    fs::remove(path, ignored);
    throw;
  }
}

std::optional<ResultsObstacle> obstacle_in(const fs::path& path, const ResultsLayout& layout,
                                           const ResultsPosition& left) {
  std::error_code error;
  if (!fs::exists(path, error)) return ResultsObstacle{"it is not there", true};
  if (!is_hdf5_or_empty(path)) return ResultsObstacle{"it is no HDF5 file"};
  const auto look = [&] { require_continuable(path, layout, left); };
  if (!survives_trial(look)) return ResultsObstacle{"it is damaged", true};
  try {
    look();
  } catch (const OfAnotherRun& other) {
    return ResultsObstacle{other.what()};
  } catch (const Hdf5SystemError&) {
    throw;
  } catch (const Hdf5Error& damage) {
    return ResultsObstacle{damage.what(), true};
  }
  return std::nullopt;
}

void begin_end_attributes(hid_t file, const ResultsLayout& layout, const std::string& status) {
  for (const ResultsAttribute& attribute : results_attributes()) {
    if (attribute.end == nullptr) continue;
    const Hdf5Object object = object_of(file, attribute);
    const bool there = hdf5_check(H5Aexists(object, attribute.name)) > 0;
    const bool tells_status = std::string_view(attribute.name) == "status" && !layout.is_part;
    std::visit(
        [&](const auto& value) {
          (there ? overwrite_attribute(object, attribute.name, value)
                 : write_attribute(object, attribute.name, value));
        },
        tells_status ? AttributeValue(status)
                     : attribute.begin(layout, static_cast<int>(layout.ranks)));
  }
}

void enter_run(hid_t file, const ResultsLayout& layout) {
  append_run(file, layout);
  renew_ranks(file, layout);
  begin_end_attributes(file, layout, first_status(layout));
}

void reserve_space(const fs::path& path, std::uintmax_t size) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur)
    throw Hdf5Error(std::strerror(EFBIG));
  const SystemFile file(path, O_WRONLY);
  const auto reserve = [&] {
    return fallocate(file, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size));
  };
  if (uninterrupted(reserve) == 0) return;
  if (errno != EOPNOTSUPP && errno != ENOSYS) throw Hdf5Error(std::strerror(errno));
  const fs::space_info space = fs::space(path);
  if (fs::file_size(path) + space.available < size) throw Hdf5Error(std::strerror(ENOSPC));
}

void reserve_room_for_end(const fs::path& path) {
  reserve_space(path, fs::file_size(path) + end_bytes);
}

void write_end(hid_t file, const ResultsLayout& layout, const ResultsEnd& end) {
  if (!layout.parts.empty()) end_virtual_rows(file, layout);
  for (const ResultsDataset& dataset : results_datasets()) {
    const auto* numbers = std::get_if<FinalNumbers>(&dataset.content);
    if (numbers == nullptr || !dataset.exists(layout)) continue;
    const std::vector<double> values = numbers->of(end);
    if (!values.empty()) overwrite_dataset(file, dataset.path.c_str(), values);
  }
  for (const ResultsAttribute& attribute : results_attributes()) {
    if (attribute.end == nullptr) continue;
    const Hdf5Object object = object_of(file, attribute);
    std::visit([&](const auto& value) { overwrite_attribute(object, attribute.name, value); },
               attribute.end(end));
  }
  hdf5_check(H5Fflush(file, H5F_SCOPE_LOCAL));
}

}  // namespace concord
