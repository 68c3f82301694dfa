#include "record/results_writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "files/hdf5_io.hpp"
#include "files/ordered_file.hpp"
#include "files/whole_file.hpp"
#include "files/writer_lock.hpp"
#include "record/results_file.hpp"
#include "record/row_buffer.hpp"
#include "record/run_files.hpp"
#include "support/agreement.hpp"
#include "support/hdf5_error.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t bytes_per_write_and_rank = std::size_t{8} << 20;
constexpr std::size_t most_buffered_bytes = std::size_t{256} << 20;
constexpr std::size_t most_buffered_rows = 65536;

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

/// Of a row and its macro-step; events have as much room again, whose pages are taken where there
/// are some.
std::size_t row_bytes(const ResultsLayout& layout) {
  std::size_t bytes = 0;
  for (const ResultsDataset& dataset : results_datasets())
    if (dataset.grows() && dataset.number != Number::text && dataset.extents[0] != Extent::events &&
        dataset.extents[0] != Extent::texts && dataset.exists(layout))
      bytes += row_bytes(dataset, layout);
  return bytes;
}

Lengths half(const Lengths& of) { return {of.rows / 2, of.steps / 2, of.events / 2, of.texts / 2}; }

/// HDF5 keeps texts in collections of some thousand bytes.
constexpr std::uintmax_t collection = 4096, entry = 64;

std::uintmax_t bytes_of(const BufferedTexts& texts) {
  std::uintmax_t bytes = 0;
  for (const RecordedEvent& event : texts.events)
    bytes += event.subsystem.size() + event.what.size() + 2 * entry;
  for (const RecordedText& change : texts.changes)
    bytes += change.variable.size() + change.value.size() + 2 * entry;
  return bytes == 0 ? 0 : 2 * (bytes + collection);
}

/// Of a part, half: in whole chunks, so that it holds them wherever it begins.
std::size_t buffered_rows(const ResultsLayout& layout, int ranks) {
  std::size_t bytes =
      std::min(bytes_per_write_and_rank * static_cast<std::size_t>(ranks), most_buffered_bytes);
  if (layout.part_bytes > 0) bytes = std::min<std::size_t>(bytes, layout.part_bytes / 2);
  const std::size_t rows =
      std::clamp<std::size_t>(bytes / row_bytes(layout), 1, most_buffered_rows);
  return rows > most_chunk_rows ? rows - rows % most_chunk_rows : rows;
}

}  // namespace

class ResultsWriter::Impl {
 public:
  Impl(MPI_Comm comm, const fs::path& path, const ResultsLayout& layout, RunBegins begins);

  void append_row(const ResultsRow& row);
  void append_step(const ResultsRow& end, const StepSums& step);
  void append_event(const ResultsRow& left, const ResultsRow& right, RecordedEvent event);
  void append_text(RecordedText text);
  void flush();
  void close(RunStatus status, RunCosts costs, const RunQuality& quality);
  std::optional<std::string> resume(const ResultsPosition& position);
  std::optional<ResultsObstacle> obstacle(const ResultsPosition& position) const {
    return files_.obstacle(position);
  }
  std::string set_aside();
  void secure(const ResultsPosition& position);
  bool would_replace(std::span<const std::string> runs) const;
  void continue_from(const EarlierRows& earlier) {
    layout_.run_record.continues = earlier.file;
    layout_.replaced_run = earlier.run;
  }
  bool begun() const { return begun_; }
  ResultsPosition position() const { return {layout_.run, written_ + buffer_.lengths()}; }

 private:
  void claim(RunBegins begins);
  void require_free();
  void create_file();
  bool begin_late();
  std::optional<std::string> on_first_rank(const std::function<void()>& action) const;
  std::optional<std::string> open_rows();
  void open_datasets();
  void close_datasets();
  void make_room_for(const Lengths& one, std::uintmax_t characters = 0);
  void write_buffer();
  bool is_full(const Lengths& end, const BufferedTexts& texts) const;
  void begin_part();
  void show_part();
  void write_rows(const Lengths& end, const BufferedTexts& texts);
  void append_texts(const BufferedTexts& texts) const;
  template <class Entry>
  void append_each(const ResultsDataset& dataset, std::uint64_t before,
                   const std::vector<Entry>& entries, std::string Entry::*text) const;
  void write(RecordedSeries& series, RowBlock rows, hsize_t in_file);
  std::uintmax_t bytes_with(const Lengths& end, const BufferedTexts& texts) const;
  void make_room(const Lengths& end, const BufferedTexts& texts);
  void keep_room_for_end() const;
  void resize_all(const Lengths& to);
  void conclude(const ResultsEnd& end);
  std::vector<double> gather_errors(std::span<const double> own) const;
  void require(const std::function<void()>& action);
  [[noreturn]] void fail(const std::string& reason);

  Communicator comm_;
  ResultsLayout layout_;
  RunFiles files_;
  RowBuffer buffer_;
  Lengths written_;
  Lengths has_room_;     // of what is buffered, in the file
  bool broken_ = false;  // a write failed: the file keeps what is written_
  bool is_free_ = false, begun_ = false, ended_ = false;
  std::optional<WriterLock> lock_;  // of the first rank

  Hdf5Quiet quiet_;
  Hdf5File file_;  // of the first rank, which writes what all have
};

ResultsWriter::Impl::Impl(MPI_Comm comm, const fs::path& path, const ResultsLayout& layout,
                          RunBegins begins)
    : comm_(comm),
      layout_(layout),
      files_(path, layout_),
      buffer_(comm_, layout_, buffered_rows(layout, comm_.size)) {
  claim(begins);
}

std::optional<std::string> ResultsWriter::Impl::on_first_rank(
    const std::function<void()>& action) const {
  return failure_on_any_rank(comm_, [&] {
    if (comm_.rank == 0) action();
  });
}

void ResultsWriter::Impl::claim(RunBegins begins) {
  if (begins == RunBegins::anew) require_free();
  if (const auto failure = on_first_rank([&] {
        lock_.emplace(LockedFile{files_.path(), "results file", "-cosim_output"});
      }))
    throw InputError(*failure);
}

void ResultsWriter::Impl::require_free() {
  if (const auto failure = on_first_rank([&] { files_.require_free(); }))
    throw InputError(*failure);
  is_free_ = true;
}

/// The file appears under its name when it is complete; until then, what was there stays.
void ResultsWriter::Impl::create_file() {
  if (!is_free_) require_free();
  auto failure = on_first_rank([&] { files_.create(); });
  if (!failure) failure = open_rows();
  if (!failure) failure = on_first_rank([&] { files_.appear(); });
  files_.share(comm_);
  begun_ = !failure;
  if (begun_) return;
  if (comm_.rank == 0) files_.withdraw();
  throw InputError("cannot create the results file '" + files_.path().string() + "': " + *failure +
                   "; choose another file with -cosim_output");
}

bool ResultsWriter::Impl::would_replace(std::span<const std::string> runs) const {
  const bool found =
      comm_.rank == 0 && std::find(runs.begin(), runs.end(), files_.run_there()) != runs.end();
  return agree_on_largest(comm_, found ? 1 : 0) != 0;
}

/// Those that the first rank has made.
std::optional<std::string> ResultsWriter::Impl::open_rows() {
  files_.share(comm_);
  return on_first_rank([&] { open_datasets(); });
}

std::optional<std::string> ResultsWriter::Impl::resume(const ResultsPosition& position) {
  const std::string refused =
      "the results file '" + files_.path().string() + "' cannot be continued: ";
  const std::string elsewhere =
      "choose another file with -cosim_output, whose rows then begin at the checkpoint";
  std::optional<std::string> lost;
  auto failure = on_first_rank([&] {
    const auto found = files_.obstacle(position);
    if (found && !found->lost) throw Hdf5Error(found->reason);
    if (found) lost = found->reason;
  });
  if (failure)
    throw InputError(refused + *failure + "; put back that of the run which goes on, or " +
                     elsewhere);
  lost = agree_on_text(comm_, lost);
  if (lost) return lost;
  failure = on_first_rank([&] { files_.go_on(position); });
  if (!failure) failure = open_rows();
  if (failure)
    throw InputError(refused + *failure + "; it is as it was: make room for a copy of it, or " +
                     elsewhere);
  written_ = position.lengths;
  layout_.run = position.run;
  begun_ = true;
  return std::nullopt;
}

std::string ResultsWriter::Impl::set_aside() {
  std::optional<std::string> aside;
  const auto failure = on_first_rank([&] {
    if (fs::exists(files_.path())) aside = files_.set_aside().string();
  });
  if (failure)
    throw InputError("cannot give the results file '" + files_.path().string() +
                     "' another name: " + *failure + "; move it away");
  return agree_on_text(comm_, aside).value_or("");
}

void ResultsWriter::Impl::secure(const ResultsPosition& position) {
  if (!broken_) flush();
  const bool there = position.run != layout_.run || written_.covers(position.lengths);
  const auto failure = on_first_rank([&] {
    if (!there) throw Hdf5Error("it has only its first " + std::to_string(written_.rows) + " rows");
    files_.sync();
  });
  if (failure)
    throw SimulationError("the results file '" + files_.path().string() +
                          "' is not on the disk: " + *failure);
}

void ResultsWriter::Impl::open_datasets() {
  const Hdf5Properties access = file_access();
  file_ = Hdf5File(hdf5_check(H5Fopen(files_.rows().c_str(), H5F_ACC_RDWR, access)));
  for (RecordedSeries& series : buffer_.series()) series.open(file_);
}

void ResultsWriter::Impl::close_datasets() {
  for (RecordedSeries& series : buffer_.series()) series.close();
  close_in_order(file_);
}

void ResultsWriter::Impl::append_row(const ResultsRow& row) {
  if (!begun_) create_file();
  make_room_for({.rows = 1});
  if (buffer_.add_row(row)) write_buffer();
}

void ResultsWriter::Impl::append_step(const ResultsRow& end, const StepSums& step) {
  make_room_for({.steps = 1});
  if (buffer_.add_step(end, step)) write_buffer();
}

void ResultsWriter::Impl::append_event(const ResultsRow& left, const ResultsRow& right,
                                       RecordedEvent event) {
  make_room_for({.events = 1}, event.subsystem.size() + event.what.size());
  if (buffer_.add_event(left, right, std::move(event))) write_buffer();
}

void ResultsWriter::Impl::append_text(RecordedText text) {
  make_room_for({.texts = 1}, text.variable.size() + text.value.size());
  if (buffer_.add_text(std::move(text))) write_buffer();
}

/// What is computed goes into the file also where its disk fills up before it is written: there is
/// room for what is buffered and one more, and for as much again as long as there can be. A part is
/// begun with what it holds.
void ResultsWriter::Impl::make_room_for(const Lengths& one, std::uintmax_t characters) {
  const Lengths wanted = buffer_.lengths() + one;
  if (broken_ || layout_.part_bytes > 0 || has_room_.covers(wanted)) return;
  const BufferedTexts& texts = buffer_.texts();
  const std::uintmax_t of_one = characters > 0 ? 2 * (characters + 2 * entry + collection) : 0;
  std::optional<std::string> failure;
  for (Lengths more = wanted;; more = half(more)) {
    const Lengths ahead = wanted + more;
    failure = on_first_rank([&] {
      reserve_space(files_.rows(),
                    bytes_with(written_ + ahead, texts) + bytes_of(texts) + 2 * of_one);
    });
    if (!failure) has_room_ = ahead;
    if (!failure || Lengths().covers(more)) break;
  }
  if (!failure) return;
  flush();
  fail(*failure);
}

void ResultsWriter::Impl::flush() {
  if (!buffer_.empty()) write_buffer();
}

void ResultsWriter::Impl::write_buffer() {
  has_room_ = {};
  const Lengths end = written_ + buffer_.lengths();
  const BufferedTexts texts = buffer_.begin_anew();
  if (broken_)
    throw SimulationError("the results file '" + files_.path().string() +
                          "' could not be written before");
  const bool in_new_part = is_full(end, texts);
  if (in_new_part) begin_part();
  write_rows(end, texts);
  if (in_new_part) show_part();
  written_ = end;
}

/// Whether the rows up to `end` belong into a part of their own.
bool ResultsWriter::Impl::is_full(const Lengths& end, const BufferedTexts& texts) const {
  if (layout_.part_bytes == 0 || files_.before().covers(written_)) return false;
  const bool full = comm_.rank == 0 && bytes_with(end, texts) > layout_.part_bytes;
  return agree_on_largest(comm_, full ? 1 : 0) != 0;
}

void ResultsWriter::Impl::begin_part() {
  auto failure = on_first_rank([&] {
    close_datasets();
    files_.begin_part(written_);
  });
  if (!failure) failure = open_rows();
  if (failure) fail(*failure);
}

void ResultsWriter::Impl::show_part() {
  if (const auto failure = on_first_rank([&] { files_.show_part(); })) fail(*failure);
}

/// Rows are in the file before what tells of them, which is written by H5Fflush.
void ResultsWriter::Impl::write_rows(const Lengths& end, const BufferedTexts& texts) {
  make_room(end, texts);
  require([&] {
    append_texts(texts);
    resize_all(end);
  });
  for (RecordedSeries& series : buffer_.series()) {
    const hsize_t first = length_of(series.extent(), written_);
    const hsize_t before = length_of(series.extent(), files_.before());
    write(series, {0, length_of(series.extent(), end) - first}, first - before);
  }
  require([&] { hdf5_check(H5Fflush(file_, H5F_SCOPE_LOCAL)); });
  keep_room_for_end();
}

void ResultsWriter::Impl::append_texts(const BufferedTexts& texts) const {
  const Lengths before = written_ - files_.before();
  for (const ResultsDataset& dataset : results_datasets()) {
    if (!dataset.exists(layout_)) continue;
    if (const auto* of_events = std::get_if<EventTexts>(&dataset.content))
      append_each(dataset, before.events, texts.events, of_events->text);
    if (const auto* of_changes = std::get_if<ChangeTexts>(&dataset.content))
      append_each(dataset, before.texts, texts.changes, of_changes->text);
  }
}

template <class Entry>
void ResultsWriter::Impl::append_each(const ResultsDataset& dataset, std::uint64_t before,
                                      const std::vector<Entry>& entries,
                                      std::string Entry::*text) const {
  if (entries.empty()) return;
  std::vector<std::string> texts;
  for (const Entry& entry : entries) texts.push_back(entry.*text);
  append_strings(file_, dataset.path.c_str(), before, texts);
}

void ResultsWriter::Impl::write(RecordedSeries& series, RowBlock rows, hsize_t in_file) {
  const void* values = series.whole_rows(rows);
  require(
      [&] { series.file().write(series.memory_type(), in_file, rows.count, values, H5P_DEFAULT); });
}

void ResultsWriter::Impl::make_room(const Lengths& end, const BufferedTexts& texts) {
  const auto failure = on_first_rank([&] { reserve_space(files_.rows(), bytes_with(end, texts)); });
  if (failure) fail(*failure);
}

/// Everything that the file holds with so many rows, and its end.
std::uintmax_t ResultsWriter::Impl::bytes_with(const Lengths& end,
                                               const BufferedTexts& texts) const {
  std::uintmax_t size = fs::file_size(files_.rows()) + end_bytes + bytes_of(texts);
  for (const RecordedSeries& series : buffer_.series())
    size += series.file().growth(length_of(series.extent(), end - files_.before()));
  return size;
}

/// H5Fflush cuts the file to its size; takes room behind it again, as long as there is some.
void ResultsWriter::Impl::keep_room_for_end() const {
  if (comm_.rank != 0) return;
  try {
    reserve_room_for_end(files_.rows());
  } catch (const std::exception&) {
  }
}

void ResultsWriter::Impl::resize_all(const Lengths& to) {
  for (RecordedSeries& series : buffer_.series())
    series.file().resize(length_of(series.extent(), to - files_.before()));
}

/// Of the first rank.
void ResultsWriter::Impl::require(const std::function<void()>& action) {
  const auto failure = on_first_rank(action);
  if (!failure) return;
  on_first_rank([&] {
    resize_all(written_);
    H5Fflush(file_, H5F_SCOPE_LOCAL);
  });
  fail(*failure);
}

/// The file keeps the rows that are surely in it.
void ResultsWriter::Impl::fail(const std::string& reason) {
  broken_ = true;
  throw SimulationError("cannot write the results file '" + files_.path().string() +
                        "': " + reason + "; it keeps its first " + std::to_string(written_.rows) +
                        " rows; make room, or choose another place with -cosim_output");
}

void ResultsWriter::Impl::close(RunStatus status, RunCosts costs, const RunQuality& quality) {
  if (!begun_ && !begin_late()) return;
  costs.subsystems.resize(layout_.subsystem_names.size());
  costs.ranks.resize(layout_.ranks);
  std::optional<std::string> unwritten;
  if (!broken_) unwritten = failure_on_any_rank(comm_, [&] { flush(); });
  const ResultsEnd end{unwritten ? RunStatus::failed : status, std::move(costs),
                       gather_errors(quality.output_errors), quality};
  auto failure = on_first_rank([&] { conclude(end); });
  const bool done = status == RunStatus::completed || status == RunStatus::inaccurate ||
                    status == RunStatus::diverged;
  if (!failure && !unwritten && done) failure = on_first_rank([&] { files_.compress(); });
  begun_ = false;
  ended_ = true;
  lock_.reset();
  if (unwritten) throw SimulationError(*unwritten);
  if (failure)
    throw SimulationError("cannot finish the results file '" + files_.path().string() +
                          "': " + *failure);
}

/// A run that has failed before its first row says so in a file, where no earlier one lies.
bool ResultsWriter::Impl::begin_late() {
  if (ended_ || agree_on_largest(comm_, comm_.rank == 0 && fs::exists(files_.path()) ? 1 : 0) != 0)
    return false;
  create_file();
  return true;
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

void ResultsWriter::Impl::conclude(const ResultsEnd& end) {
  reserve_room_for_end(files_.rows());
  close_datasets();
  files_.end(end, written_);
}

ResultsWriter::ResultsWriter(MPI_Comm comm, const std::filesystem::path& path,
                             const ResultsLayout& layout, RunBegins begins)
    : impl_(std::make_unique<Impl>(comm, path, layout, begins)) {}

ResultsWriter::~ResultsWriter() = default;

std::optional<std::string> ResultsWriter::resume(const ResultsPosition& position) {
  return impl_->resume(position);
}

/// What cannot be read now may be whole.
std::optional<ResultsObstacle> ResultsWriter::obstacle(const ResultsPosition& position) const try {
  return impl_->obstacle(position);
} catch (const Hdf5SystemError& failure) {
  throw InputError(std::string("cannot read the results file of the run that is to go on: ") +
                   failure.what() +
                   "; it was left untouched: start it once more, when the file can be read");
}

std::string ResultsWriter::set_aside() { return impl_->set_aside(); }

void ResultsWriter::secure(const ResultsPosition& position) { impl_->secure(position); }

ResultsPosition ResultsWriter::position() const { return impl_->position(); }

bool ResultsWriter::begun() const { return impl_->begun(); }

bool ResultsWriter::would_replace(std::span<const std::string> runs) const {
  return impl_->would_replace(runs);
}

void ResultsWriter::append_start(const ResultsRow& row, const EarlierRows& earlier) {
  impl_->continue_from(earlier);
  impl_->append_row(row);
}

void ResultsWriter::append(const ResultsRow& row, const StepSums& steps) {
  impl_->append_step(row, steps);
  impl_->append_row(row);
}

void ResultsWriter::append_row(const ResultsRow& row) { impl_->append_row(row); }

void ResultsWriter::append_step(const ResultsRow& end, const StepSums& step) {
  impl_->append_step(end, step);
}

void ResultsWriter::append_event(const ResultsRow& left, const ResultsRow& right,
                                 RecordedEvent event) {
  impl_->append_event(left, right, std::move(event));
}

void ResultsWriter::append_text(RecordedText text) { impl_->append_text(std::move(text)); }

void ResultsWriter::flush() { impl_->flush(); }

void ResultsWriter::close(RunStatus status, RunCosts costs, const RunQuality& quality) {
  impl_->close(status, std::move(costs), quality);
}

}  // namespace concord
