#include "record/results_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include "concord/errors.hpp"
#include "record/hdf5_io.hpp"
#include "record/trial.hpp"
#include "support/hdf5_error.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

constexpr hsize_t chunk_bytes = hsize_t{1} << 20;
constexpr hsize_t most_chunk_rows = 1024;  // the default run has 1000 steps: one chunk

/// Chunk of about a megabyte at most, of whole rows where a row is not larger than that.
hsize_t chunk_columns(hsize_t columns, hsize_t column_bytes) {
  return std::clamp<hsize_t>(columns, 1, chunk_bytes / column_bytes);
}

hsize_t chunk_rows(hsize_t columns, hsize_t column_bytes) {
  const hsize_t row_bytes = chunk_columns(columns, column_bytes) * column_bytes;
  return std::clamp<hsize_t>(chunk_bytes / row_bytes, 1, most_chunk_rows);
}

Hdf5Dataset create_growing(hid_t file, const std::string& path, hid_t type, int rank,
                           const hsize_t* now, const hsize_t* most, const hsize_t* chunk) {
  const Hdf5Dataspace space(hdf5_check(H5Screate_simple(rank, now, most)));
  const Hdf5Properties creation(hdf5_check(H5Pcreate(H5P_DATASET_CREATE)));
  hdf5_check(H5Pset_chunk(creation, rank, chunk));
  hdf5_check(H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY));
  hdf5_check(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER));
  return Hdf5Dataset(
      hdf5_check(H5Dcreate2(file, path.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT)));
}

/// f(T) or i(T).
Hdf5Dataset create_series(hid_t file, const std::string& path, hid_t type) {
  const hsize_t now = 0, most = H5S_UNLIMITED, chunk = most_chunk_rows;
  return create_growing(file, path, type, 1, &now, &most, &chunk);
}

/// f64[T,n], or f64[T,n,inner] with inner > 1.
void create_table(hid_t file, const std::string& path, hsize_t columns, hsize_t inner) {
  const std::array<hsize_t, 3> now{0, columns, inner};
  const std::array<hsize_t, 3> most{H5S_UNLIMITED, columns > 0 ? columns : H5S_UNLIMITED, inner};
  const hsize_t bytes = inner * sizeof(double);
  const std::array<hsize_t, 3> chunk{chunk_rows(columns, bytes), chunk_columns(columns, bytes),
                                     inner};
  create_growing(file, path, H5T_IEEE_F64LE, inner > 1 ? 3 : 2, now.data(), most.data(),
                 chunk.data());
}

void create_group(hid_t file, const std::string& path) {
  const Hdf5Group group(
      hdf5_check(H5Gcreate2(file, path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
}

void create_columns(hid_t file, const std::string& group, const RecordedColumns& columns) {
  create_group(file, group);
  write_dataset(file, (group + "/names").c_str(), columns.names);
  write_dataset(file, (group + "/units").c_str(), columns.units);
  create_table(file, group + "/values", columns.total, 1);
}

/// Nothing is known of errors before the end.
void create_outputs(hid_t file, const RecordedColumns& columns) {
  create_columns(file, "/outputs", columns);
  const std::vector<double> unknown(columns.total, std::numeric_limits<double>::quiet_NaN());
  write_dataset(file, "/outputs/error_estimate", H5T_NATIVE_DOUBLE, columns.total, unknown.data());
}

void create_steps(hid_t file) {
  create_group(file, "/steps");
  for (const char* name : {"size", "residual", "error_estimate", "wall_time"})
    create_series(file, std::string("/steps/") + name, H5T_IEEE_F64LE);
  for (const char* name : {"iterations", "coupling_evaluations", "linear_iterations", "rejections"})
    create_series(file, std::string("/steps/") + name, H5T_STD_I32LE);
}

void create_events(hid_t file, const std::vector<double>& times) {
  create_group(file, "/events");
  write_dataset(file, "/events/time", H5T_NATIVE_DOUBLE, times.size(), times.data());
}

void create_subsystems(hid_t file, const ResultsLayout& layout) {
  create_group(file, "/subsystems");
  write_dataset(file, "/subsystems/name", layout.subsystem_names);
  write_dataset(file, "/subsystems/kind", layout.subsystem_kinds);
  const hsize_t size = layout.subsystem_names.size();
  write_dataset(file, "/subsystems/rank", H5T_NATIVE_INT, size, layout.subsystem_ranks.data());
  const std::vector<std::int64_t> zeros(size, 0);
  for (const char* name : {"advances", "rhs_evaluations", "micro_steps"})
    write_dataset(file, (std::string("/subsystems/") + name).c_str(), H5T_NATIVE_INT64, size,
                  zeros.data());
  const std::vector<double> no_time(size, 0.0);
  write_dataset(file, "/subsystems/wall_time", H5T_NATIVE_DOUBLE, size, no_time.data());
}

void create_root_attributes(hid_t file, const ResultsLayout& layout, int ranks) {
  write_attribute(file, "format_version", results_format_version);
  write_attribute(file, "concord_version", CONCORD_VERSION);
  write_attribute(file, "model_name", layout.model_name);
  write_attribute(file, "command_line", layout.command_line);
  write_attribute(file, "petsc_options", layout.petsc_options);
  write_attribute(file, "ranks", static_cast<std::int32_t>(ranks));
  write_attribute(file, "status", std::string(to_string(RunStatus::running)));
  const RunQuality unknown;
  write_attribute(file, "error_estimate", unknown.worst);
  for (const char* name : {"error_estimate_of", "no_estimate", "diverged"})
    write_attribute(file, name, std::string());
  write_attribute(file, "macro_steps_at_noise", unknown.at_noise);
  write_attribute(file, "events", unknown.events);
}

/// The file without rows, made in memory.
std::vector<char> empty_results_image(const ResultsLayout& layout, int ranks) {
  Hdf5Properties access = plain_file_access();
  hdf5_check(H5Pset_fapl_core(access, std::size_t{1} << 16, false));
  const Hdf5File file(hdf5_check(H5Fcreate("results", H5F_ACC_TRUNC, H5P_DEFAULT, access)));
  create_root_attributes(file, layout, ranks);
  write_attribute(create_series(file, "/time", H5T_IEEE_F64LE), "unit", "s");
  if (layout.outputs.recorded) create_outputs(file, layout.outputs);
  if (layout.inputs.recorded) {
    create_columns(file, "/inputs", layout.inputs);
    create_table(file, "/inputs/derivatives", layout.inputs.total, 1);
    if (layout.polynomials) create_table(file, "/inputs/polynomials", layout.inputs.total, 4);
  }
  if (layout.states.recorded) create_columns(file, "/states", layout.states);
  if (layout.balance.recorded) create_columns(file, "/balance", layout.balance);
  create_steps(file);
  create_events(file, layout.events);
  create_subsystems(file, layout);
  hdf5_check(H5Fflush(file, H5F_SCOPE_LOCAL));
  std::vector<char> image(
      static_cast<std::size_t>(hdf5_check(H5Fget_file_image(file, nullptr, 0))));
  hdf5_check(H5Fget_file_image(file, image.data(), image.size()));
  return image;
}

/// An open file of the operating system.
class FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {
    if (descriptor < 0) throw Hdf5Error(std::strerror(errno));
  }
  ~FileDescriptor() { ::close(descriptor_); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  operator int() const { return descriptor_; }

 private:
  int descriptor_;
};

void write_file(const fs::path& path, std::span<const char> bytes) {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Hdf5Error(std::strerror(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

constexpr const char* remedy =
    "; it was left untouched: choose another file with -cosim_output, or move it away";

/// Model name of the results file at `path`; throws InputError when it is not a results file.
std::string model_of_results(const fs::path& path) {
  const Hdf5Properties access = plain_file_access();
  const Hdf5File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access));
  if (!file)
    throw InputError("'" + path.string() + "' exists and is not a readable HDF5 file (" +
                     hdf5_error_reason() + ")" + remedy);
  try {
    read_string_attribute(file, "concord_version");
    if (H5Lexists(file, "time", H5P_DEFAULT) <= 0) throw Hdf5Error("'/time' is missing");
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

std::string_view to_string(RunStatus status) {
  switch (status) {
    case RunStatus::running:
      return "running";
    case RunStatus::completed:
      return "completed";
    case RunStatus::interrupted:
      return "interrupted";
    case RunStatus::diverged:
      return "diverged";
    case RunStatus::failed:
      break;
  }
  return "failed";
}

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
  const std::vector<char> image = empty_results_image(layout, ranks);
  try {
    write_file(path, image);
  } catch (...) {
    std::error_code ignored;
    fs::remove(path, ignored);
    throw;
  }
}

void reserve_space(const fs::path& path, std::uintmax_t size) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur)
    throw Hdf5Error(std::strerror(EFBIG));
  const FileDescriptor file(open(path.c_str(), O_WRONLY));
  if (fallocate(file, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size)) == 0) return;
  if (errno != EOPNOTSUPP && errno != ENOSYS) throw Hdf5Error(std::strerror(errno));
  const fs::space_info space = fs::space(path);
  if (fs::file_size(path) + space.available < size) throw Hdf5Error(std::strerror(ENOSPC));
}

void announce_end(const fs::path& path, std::uintmax_t end) {
  constexpr off_t end_of_file_address = 40;
  constexpr std::size_t address_bytes = 8;
  const FileDescriptor file(open(path.c_str(), O_WRONLY));
  std::array<unsigned char, address_bytes> little_endian{};
  for (std::size_t byte = 0; byte < address_bytes; ++byte)
    little_endian[byte] = static_cast<unsigned char>(end >> 8 * byte);
  if (ftruncate(file, static_cast<off_t>(end)) != 0) throw Hdf5Error(std::strerror(errno));
  if (pwrite(file, little_endian.data(), address_bytes, end_of_file_address) != address_bytes)
    throw Hdf5Error(std::strerror(errno));
}

void write_quality(hid_t file, const ResultsLayout& layout, const Conclusion& conclusion) {
  const RunQuality& quality = conclusion.quality;
  if (layout.outputs.recorded && !conclusion.output_errors.empty()) {
    overwrite_dataset(file, "/outputs/error_estimate", H5T_NATIVE_DOUBLE,
                      conclusion.output_errors.data());
  }
  overwrite_attribute(file, "error_estimate", quality.worst);
  overwrite_attribute(file, "error_estimate_of", quality.worst_output);
  overwrite_attribute(file, "no_estimate", quality.no_estimate);
  overwrite_attribute(file, "diverged", quality.diverged);
  overwrite_attribute(file, "macro_steps_at_noise", quality.at_noise);
  overwrite_attribute(file, "events", quality.events);
}

void write_conclusion(hid_t file, const ResultsLayout& layout, RunStatus status,
                      const Conclusion& conclusion) {
  const auto overwrite = [&](const char* path, auto Counters::*member, hid_t type) {
    std::vector<std::decay_t<decltype(Counters{}.*member)>> values;
    for (const Counters& c : conclusion.counters) values.push_back(c.*member);
    if (!values.empty()) overwrite_dataset(file, path, type, values.data());
  };
  overwrite("/subsystems/advances", &Counters::advances, H5T_NATIVE_INT64);
  overwrite("/subsystems/rhs_evaluations", &Counters::rhs_evaluations, H5T_NATIVE_INT64);
  overwrite("/subsystems/micro_steps", &Counters::micro_steps, H5T_NATIVE_INT64);
  overwrite("/subsystems/wall_time", &Counters::wall_time, H5T_NATIVE_DOUBLE);
  write_quality(file, layout, conclusion);
  overwrite_attribute(file, "status", std::string(to_string(status)));
  hdf5_check(H5Fflush(file, H5F_SCOPE_LOCAL));
}

}  // namespace concord
