#include "record/results_writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <variant>

#include "concord/errors.hpp"
#include "record/growing_dataset.hpp"
#include "record/hdf5_io.hpp"
#include "record/results_file.hpp"
#include "record/results_lock.hpp"
#include "record/row_exchange.hpp"
#include "support/agreement.hpp"
#include "support/hdf5_error.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t bytes_per_write_and_rank = std::size_t{8} << 20;
constexpr std::size_t most_buffered_bytes = std::size_t{256} << 20;
constexpr std::size_t most_buffered_rows = 65536;
constexpr std::uintmax_t conclusion_bytes = 16384;  // a new status takes a few kilobytes

/// A private communicator, so that no message of the solver meets ours.
class Communicator {
 public:
  explicit Communicator(MPI_Comm comm) {
    MPI_Comm_dup(comm, &comm_);
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &size);
  }
  ~Communicator() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized) MPI_Comm_free(&comm_);
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  operator MPI_Comm() const { return comm_; }

  int rank = 0, size = 1;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Rows in memory that nothing has touched yet: pages are taken when rows fill them.
template <class T>
class RowBuffer {
 public:
  RowBuffer(std::size_t rows, std::size_t width)
      : width_(width), size_(rows * width), entries_(new_entries(size_)) {}

  T* row(std::size_t index) { return entries_.get() + index * width_; }
  std::span<const T> all() const { return {entries_.get(), size_}; }

 private:
  static std::unique_ptr<T[]> new_entries(std::size_t size) {
    return std::make_unique_for_overwrite<T[]>(std::max<std::size_t>(size, 1));
  }
  std::size_t width_, size_;
  std::unique_ptr<T[]> entries_;
};

/// A recorded matrix: this rank's columns in memory, all of them in the file.
struct Table {
  const char* path;
  RowExchange* exchange;
  std::size_t own;    // columns of this rank
  std::size_t inner;  // numbers per column
  RowBuffer<double> buffer;
  std::optional<GrowingDataset> dataset;
};

Table make_table(const char* path, RowExchange& exchange, const RecordedColumns& columns,
                 std::size_t inner, std::size_t rows) {
  const std::size_t own = columns.column.size();
  return {path, &exchange, own, inner, RowBuffer<double>(rows, own * inner), std::nullopt};
}

using StepMember = std::variant<double StepStatistics::*, std::int32_t StepStatistics::*>;

/// A column of /steps.
struct StepSeries {
  const char* path;
  StepMember member;
  std::optional<GrowingDataset> dataset;
};

std::vector<StepSeries> step_series() {
  std::vector<StepSeries> series;
  const auto add = [&](const char* path, StepMember member) {
    series.push_back({path, member, std::nullopt});
  };
  add("/steps/size", &StepStatistics::size);
  add("/steps/iterations", &StepStatistics::iterations);
  add("/steps/coupling_evaluations", &StepStatistics::coupling_evaluations);
  add("/steps/linear_iterations", &StepStatistics::linear_iterations);
  add("/steps/rejections", &StepStatistics::rejections);
  add("/steps/residual", &StepStatistics::residual);
  add("/steps/error_estimate", &StepStatistics::error_estimate);
  add("/steps/wall_time", &StepStatistics::wall_time);
  return series;
}

std::size_t row_bytes(const ResultsLayout& layout) {
  std::size_t doubles = 1;
  if (layout.outputs.recorded) doubles += layout.outputs.total;
  if (layout.inputs.recorded) doubles += layout.inputs.total * (layout.polynomials ? 6 : 2);
  if (layout.states.recorded) doubles += layout.states.total;
  if (layout.balance.recorded) doubles += layout.balance.total;
  return doubles * sizeof(double) + sizeof(StepStatistics);
}

std::size_t buffered_rows(const ResultsLayout& layout, int ranks) {
  const std::size_t bytes =
      std::min(bytes_per_write_and_rank * static_cast<std::size_t>(ranks), most_buffered_bytes);
  return std::clamp<std::size_t>(bytes / row_bytes(layout), 1, most_buffered_rows);
}

/// Where symbolic links lead, also to what is not there yet: a link is not replaced by a file.
fs::path resolved(fs::path path) {
  constexpr int most_links = 40;
  std::error_code error;
  if (!path.has_filename()) path = path.parent_path();
  for (int i = 0; i < most_links && fs::is_symlink(path, error); ++i) {
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) return path;
  const fs::path target = fs::canonical(folder, error) / path.filename();
  return error ? path : target;
}

/// A hidden neighbour of `path`, under which a file is made complete; its lock is held.
fs::path unfinished_name(const fs::path& path) {
  return path.parent_path() / ("." + path.filename().string() + ".new");
}

/// MPI-IO hangs when a file opens on some ranks only: look before.
void require_visible(const fs::path& path) {
  if (access(path.c_str(), R_OK | W_OK) != 0)
    throw Hdf5Error("not every rank sees the file; all nodes must share the folder");
}

Hdf5Properties file_access(const Communicator& comm) {
  Hdf5Properties access = plain_file_access();
  if (comm.size > 1) hdf5_check(H5Pset_fapl_mpio(access, comm, MPI_INFO_NULL));
  return access;
}

Hdf5Properties transfer_mode(const Communicator& comm) {
  Hdf5Properties transfer(hdf5_check(H5Pcreate(H5P_DATASET_XFER)));
  if (comm.size > 1) hdf5_check(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE));
  return transfer;
}

}  // namespace

class ResultsWriter::Impl {
 public:
  Impl(MPI_Comm comm, const fs::path& path, const ResultsLayout& layout);

  void append(const ResultsRow& row, const StepStatistics& step);
  void flush();
  void close(RunStatus status, std::span<const Counters> own_counters, const RunQuality& quality);
  bool begun() const { return static_cast<bool>(file_); }

 private:
  void claim();
  void create_file();
  bool begin_late();
  std::optional<std::string> on_first_rank(const std::function<void()>& action) const;
  void open_datasets();
  void write_buffer();
  void write_rows(RowBlock rows, RowBlock steps);
  void write_table(Table& table, RowBlock rows, hsize_t in_file);
  void write_times(RowBlock rows);
  void write_steps(const StepSeries& series, RowBlock rows, hsize_t in_file);
  void reserve(hsize_t rows) const;
  void keep_room_for_conclusion() const;
  void announce_growth();
  void resize_all(hsize_t rows);
  void conclude(RunStatus status, const Conclusion& conclusion);
  std::vector<Counters> gather_counters(std::span<const Counters> own) const;
  std::vector<double> gather_errors(std::span<const double> own) const;
  std::array<std::optional<Table>*, 6> tables();
  std::array<const std::optional<Table>*, 6> tables() const;
  RowBlock own_part(RowBlock rows) const { return part_of(rows, comm_.rank, comm_.size); }
  void require(const std::function<void()>& action);
  [[noreturn]] void fail(const std::string& reason);

  Communicator comm_;
  fs::path path_, unfinished_;
  ResultsLayout layout_;
  std::size_t capacity_;  // rows in memory
  RowExchange outputs_, inputs_, states_, balance_;
  RowBuffer<double> times_;
  RowBuffer<StepStatistics> steps_;
  std::optional<Table> output_values_, input_values_, input_derivatives_, polynomials_,
      state_values_, balance_values_;
  std::vector<StepSeries> step_series_ = step_series();
  std::size_t buffered_ = 0;
  hsize_t written_ = 0;
  haddr_t announced_end_ = 0;
  bool broken_ = false;  // a write failed: the file keeps written_ rows
  bool ended_ = false;
  std::optional<ResultsLock> lock_;  // of the first rank
  std::vector<double> reals_;
  std::vector<std::int32_t> integers_;

  Hdf5Quiet quiet_;
  Hdf5File file_;
  Hdf5Properties transfer_;
  std::optional<GrowingDataset> time_dataset_;
};

ResultsWriter::Impl::Impl(MPI_Comm comm, const fs::path& path, const ResultsLayout& layout)
    : comm_(comm),
      path_(resolved(path)),
      unfinished_(unfinished_name(path_)),
      layout_(layout),
      capacity_(buffered_rows(layout, comm_.size)),
      outputs_(comm_, layout.outputs),
      inputs_(comm_, layout.inputs),
      states_(comm_, layout.states),
      balance_(comm_, layout.balance),
      times_(capacity_, 1),
      steps_(capacity_, 1) {
  if (layout.outputs.recorded)
    output_values_ = make_table("/outputs/values", outputs_, layout.outputs, 1, capacity_);
  if (layout.inputs.recorded) {
    input_values_ = make_table("/inputs/values", inputs_, layout.inputs, 1, capacity_);
    input_derivatives_ = make_table("/inputs/derivatives", inputs_, layout.inputs, 1, capacity_);
    if (layout.polynomials)
      polynomials_ = make_table("/inputs/polynomials", inputs_, layout.inputs, 4, capacity_);
  }
  if (layout.states.recorded)
    state_values_ = make_table("/states/values", states_, layout.states, 1, capacity_);
  if (layout.balance.recorded)
    balance_values_ = make_table("/balance/values", balance_, layout.balance, 1, capacity_);
  claim();
}

std::optional<std::string> ResultsWriter::Impl::on_first_rank(
    const std::function<void()>& action) const {
  return failure_on_any_rank(comm_, [&] {
    if (comm_.rank == 0) action();
  });
}

void ResultsWriter::Impl::claim() {
  const auto failure = on_first_rank([&] {
    require_replaceable(path_, layout_.model_name);
    lock_.emplace(path_);
  });
  if (failure) throw InputError(*failure);
}

std::array<std::optional<Table>*, 6> ResultsWriter::Impl::tables() {
  return {&output_values_, &input_values_, &input_derivatives_,
          &state_values_,  &polynomials_,  &balance_values_};
}

std::array<const std::optional<Table>*, 6> ResultsWriter::Impl::tables() const {
  return {&output_values_, &input_values_, &input_derivatives_,
          &state_values_,  &polynomials_,  &balance_values_};
}

/// The file appears under its name when it is complete; until then, what was there stays.
void ResultsWriter::Impl::create_file() {
  auto failure = on_first_rank([&] { create_empty_results(unfinished_, layout_, comm_.size); });
  if (!failure) failure = failure_on_any_rank(comm_, [&] { require_visible(unfinished_); });
  if (!failure) failure = failure_on_any_rank(comm_, [&] { open_datasets(); });
  if (!failure) failure = on_first_rank([&] { fs::rename(unfinished_, path_); });
  if (!failure) return;
  std::error_code ignored;
  if (comm_.rank == 0) fs::remove(unfinished_, ignored);
  throw InputError("cannot create the results file '" + path_.string() + "': " + *failure +
                   "; choose another file with -cosim_output");
}

void ResultsWriter::Impl::open_datasets() {
  transfer_ = transfer_mode(comm_);
  const Hdf5Properties access = file_access(comm_);
  file_ = Hdf5File(hdf5_check(H5Fopen(unfinished_.c_str(), H5F_ACC_RDWR, access)));
  time_dataset_.emplace(file_, "/time");
  for (std::optional<Table>* table : tables())
    if (*table) (*table)->dataset.emplace(file_, (*table)->path);
  for (StepSeries& series : step_series_) series.dataset.emplace(file_, series.path);
}

void ResultsWriter::Impl::append(const ResultsRow& row, const StepStatistics& step) {
  if (!file_) create_file();
  *times_.row(buffered_) = row.time;
  *steps_.row(buffered_) = step;
  const auto copy = [&](std::optional<Table>& table, const RecordedColumns& columns,
                        auto numbers_of) {
    if (!table) return;
    double* to = table->buffer.row(buffered_);
    for (const std::size_t index : columns.local_index) to = numbers_of(index, to);
  };
  copy(output_values_, layout_.outputs, [&](std::size_t i, double* to) {
    *to = row.outputs[i].value;
    return to + 1;
  });
  copy(input_values_, layout_.inputs, [&](std::size_t i, double* to) {
    *to = row.inputs[i].value;
    return to + 1;
  });
  copy(input_derivatives_, layout_.inputs, [&](std::size_t i, double* to) {
    *to = row.inputs[i].derivative;
    return to + 1;
  });
  copy(state_values_, layout_.states, [&](std::size_t i, double* to) {
    *to = row.states[i];
    return to + 1;
  });
  copy(balance_values_, layout_.balance, [&](std::size_t i, double* to) {
    *to = row.balance[i];
    return to + 1;
  });
  if (!row.polynomials.empty())
    copy(polynomials_, layout_.inputs, [&](std::size_t i, double* to) {
      return std::copy_n(row.polynomials[i].c.begin(), 4, to);
    });
  if (++buffered_ == capacity_) write_buffer();
}

void ResultsWriter::Impl::flush() {
  if (buffered_ > 0) write_buffer();
}

void ResultsWriter::Impl::write_buffer() {
  const RowBlock rows{0, std::exchange(buffered_, 0)};
  if (broken_)
    throw SimulationError("the results file '" + path_.string() + "' could not be written before");
  const std::size_t without_step = written_ == 0 ? 1 : 0;
  write_rows(rows, {without_step, rows.count - without_step});
  written_ += rows.count;
}

/// Rows reach the file before the index that tells of them (H5Fflush), so that a program killed in
/// between leaves the rows of the last time.
void ResultsWriter::Impl::write_rows(RowBlock rows, RowBlock steps) {
  const hsize_t steps_written = written_ - (written_ > 0 ? 1 : 0);
  if (const auto failure = failure_on_any_rank(comm_, [&] { reserve(written_ + rows.count); }))
    fail(*failure);
  require([&] { resize_all(written_ + rows.count); });
  write_times(rows);
  for (std::optional<Table>* table : tables()) {
    if (!*table) continue;
    const bool per_step = table == &polynomials_;
    write_table(**table, per_step ? steps : rows, per_step ? steps_written : written_);
  }
  for (const StepSeries& series : step_series_) write_steps(series, steps, steps_written);
  if (comm_.size == 1) announce_growth();
  require([&] { hdf5_check(H5Fflush(file_, H5F_SCOPE_LOCAL)); });
  keep_room_for_conclusion();
}

/// Only of a file that HDF5 writes without MPI it tells where it ends.
void ResultsWriter::Impl::announce_growth() {
  require([&] {
    haddr_t end = 0;
    hdf5_check(H5Fget_eoa(file_, &end));
    if (end != std::exchange(announced_end_, end)) announce_end(path_, end);
  });
}

void ResultsWriter::Impl::write_times(RowBlock rows) {
  const RowBlock part = own_part(rows);
  require([&] {
    time_dataset_->write(H5T_NATIVE_DOUBLE, written_ + part.first, part.count,
                         times_.row(part.first), transfer_);
  });
}

void ResultsWriter::Impl::write_table(Table& table, RowBlock rows, hsize_t in_file) {
  const auto values = table.exchange->whole_rows(table.buffer.all(), rows, table.inner);
  const RowBlock part = own_part(rows);
  require([&] {
    table.dataset->write(H5T_NATIVE_DOUBLE, in_file + part.first - rows.first, part.count,
                         values.data(), transfer_);
  });
}

void ResultsWriter::Impl::write_steps(const StepSeries& series, RowBlock rows, hsize_t in_file) {
  const RowBlock part = own_part(rows);
  const std::span<const StepStatistics> steps(steps_.row(part.first), part.count);
  const auto write = [&](auto member, auto& numbers, hid_t type) {
    numbers.resize(part.count);
    std::transform(steps.begin(), steps.end(), numbers.begin(),
                   [&](const StepStatistics& step) { return step.*member; });
    require([&] {
      series.dataset->write(type, in_file + part.first - rows.first, part.count, numbers.data(),
                            transfer_);
    });
  };
  if (const auto* real = std::get_if<double StepStatistics::*>(&series.member))
    write(*real, reals_, H5T_NATIVE_DOUBLE);
  else
    write(std::get<std::int32_t StepStatistics::*>(series.member), integers_, H5T_NATIVE_INT32);
}

/// Disk space for everything that the file holds with so many rows, and for its end.
void ResultsWriter::Impl::reserve(hsize_t rows) const {
  if (comm_.rank != 0) return;
  std::uintmax_t size = fs::file_size(path_) + conclusion_bytes + time_dataset_->growth(rows);
  for (const std::optional<Table>* table : tables())
    if (*table) size += (*table)->dataset->growth(rows);
  for (const StepSeries& series : step_series_) size += series.dataset->growth(rows);
  reserve_space(path_, size);
}

/// H5Fflush cuts the file to its size; takes room behind it again, as long as there is some.
void ResultsWriter::Impl::keep_room_for_conclusion() const {
  if (comm_.rank != 0) return;
  try {
    reserve_space(path_, fs::file_size(path_) + conclusion_bytes);
  } catch (const std::exception&) {
  }
}

void ResultsWriter::Impl::resize_all(hsize_t rows) {
  const hsize_t steps = rows - (rows > 0 ? 1 : 0);
  time_dataset_->resize(rows);
  for (std::optional<Table>* table : tables())
    if (*table) (*table)->dataset->resize(table == &polynomials_ ? steps : rows);
  for (StepSeries& series : step_series_) series.dataset->resize(steps);
}

void ResultsWriter::Impl::require(const std::function<void()>& action) {
  const auto failure = failure_on_any_rank(comm_, action);
  if (!failure) return;
  failure_on_any_rank(comm_, [&] { resize_all(written_); });
  H5Fflush(file_, H5F_SCOPE_LOCAL);
  fail(*failure);
}

/// The file keeps the rows that are surely in it.
void ResultsWriter::Impl::fail(const std::string& reason) {
  broken_ = true;
  throw SimulationError("cannot write the results file '" + path_.string() + "': " + reason +
                        "; it keeps its first " + std::to_string(written_) +
                        " rows; make room, or choose another place with -cosim_output");
}

void ResultsWriter::Impl::close(RunStatus status, std::span<const Counters> own_counters,
                                const RunQuality& quality) {
  if (!file_ && !begin_late()) return;
  std::optional<std::string> unwritten;
  if (!broken_ && buffered_ > 0) unwritten = failure_on_any_rank(comm_, [&] { write_buffer(); });
  const Conclusion conclusion{gather_counters(own_counters), gather_errors(quality.output_errors),
                              quality};
  const auto failure = failure_on_any_rank(
      comm_, [&] { conclude(unwritten ? RunStatus::failed : status, conclusion); });
  ended_ = true;
  lock_.reset();
  if (unwritten) throw SimulationError(*unwritten);
  if (failure)
    throw SimulationError("cannot finish the results file '" + path_.string() + "': " + *failure);
}

/// A run that has failed before its first row says so in a file, where no earlier one lies.
bool ResultsWriter::Impl::begin_late() {
  if (ended_ || agree_on_largest(comm_, comm_.rank == 0 && fs::exists(path_) ? 1 : 0) != 0)
    return false;
  create_file();
  return true;
}

std::vector<Counters> ResultsWriter::Impl::gather_counters(std::span<const Counters> own) const {
  const std::size_t size = layout_.subsystem_names.size();
  std::vector<std::int64_t> counts(3 * size, 0);
  std::vector<double> times(size, 0.0);
  for (std::size_t i = 0; i < std::min(own.size(), layout_.own_subsystems.size()); ++i) {
    const std::size_t k = layout_.own_subsystems[i];
    counts[3 * k] = own[i].advances;
    counts[3 * k + 1] = own[i].rhs_evaluations;
    counts[3 * k + 2] = own[i].micro_steps;
    times[k] = own[i].wall_time;
  }
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_INT64_T, MPI_SUM,
                comm_);
  MPI_Allreduce(MPI_IN_PLACE, times.data(), static_cast<int>(size), MPI_DOUBLE, MPI_SUM, comm_);
  std::vector<Counters> all(size);
  for (std::size_t k = 0; k < size; ++k)
    all[k] = {counts[3 * k], counts[3 * k + 1], counts[3 * k + 2], times[k]};
  return all;
}

/// Every column is one rank's.
std::vector<double> ResultsWriter::Impl::gather_errors(std::span<const double> own) const {
  std::vector<double> all(layout_.outputs.total, 0.0);
  for (std::size_t i = 0; i < layout_.outputs.column.size(); ++i) {
    all[layout_.outputs.column[i]] = own.empty() ? std::numeric_limits<double>::quiet_NaN()
                                                 : own[layout_.outputs.local_index[i]];
  }
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, comm_);
  return all;
}

/// Several ranks cannot write variable-length strings together (HDF5 1.10): the first does it alone
/// after the common file is closed.
void ResultsWriter::Impl::conclude(RunStatus status, const Conclusion& conclusion) {
  if (comm_.rank == 0) reserve_space(path_, fs::file_size(path_) + conclusion_bytes);
  if (comm_.size == 1) write_conclusion(file_, layout_, status, conclusion);
  time_dataset_.reset();
  for (std::optional<Table>* table : tables())
    if (*table) (*table)->dataset.reset();
  for (StepSeries& series : step_series_) series.dataset.reset();
  hdf5_check(file_.close());
  if (comm_.size == 1 || comm_.rank != 0) return;
  const Hdf5Properties access = plain_file_access();
  Hdf5File file(hdf5_check(H5Fopen(path_.c_str(), H5F_ACC_RDWR, access)));
  write_conclusion(file, layout_, status, conclusion);
  hdf5_check(file.close());
}

ResultsWriter::ResultsWriter(MPI_Comm comm, const std::filesystem::path& path,
                             const ResultsLayout& layout)
    : impl_(std::make_unique<Impl>(comm, path, layout)) {}

ResultsWriter::~ResultsWriter() = default;

bool ResultsWriter::begun() const { return impl_->begun(); }

void ResultsWriter::append_start(const ResultsRow& row) { impl_->append(row, {}); }

void ResultsWriter::append(const ResultsRow& row, const StepStatistics& step) {
  impl_->append(row, step);
}

void ResultsWriter::flush() { impl_->flush(); }

void ResultsWriter::close(RunStatus status, std::span<const Counters> own_counters,
                          const RunQuality& quality) {
  impl_->close(status, own_counters, quality);
}

}  // namespace concord
