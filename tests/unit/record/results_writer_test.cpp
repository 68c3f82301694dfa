#include "record/results_writer.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "concord/errors.hpp"
#include "example_run.hpp"
#include "files/hdf5_io.hpp"
#include "record/results_reader.hpp"
#include "support/hdf5_error.hpp"

namespace concord::test {
namespace {

namespace fs = std::filesystem;

std::vector<double> read_numbers(const fs::path& path, const char* dataset_path,
                                 std::vector<hsize_t> expected_shape) {
  const Hdf5Properties access = file_access();
  const Hdf5File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access));
  const Hdf5Dataset dataset(H5Dopen2(file, dataset_path, H5P_DEFAULT));
  const Hdf5Dataspace space(H5Dget_space(dataset));
  std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  EXPECT_EQ(shape, expected_shape) << dataset_path;
  std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  return values;
}

void expect_table(const fs::path& path, const char* dataset, char kind, std::size_t rows,
                  std::size_t columns) {
  const auto values = read_numbers(path, dataset, {rows, columns});
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      ASSERT_EQ(values[row * columns + column], ExampleRun::number(kind, column, row))
          << dataset << " row " << row << " column " << column;
}

void expect_polynomials(const fs::path& path, std::size_t steps, std::size_t columns) {
  const auto values = read_numbers(path, "/inputs/polynomials", {steps, columns, 4});
  for (std::size_t step = 0; step < steps; ++step)
    for (std::size_t i = 0; i < 4 * columns; ++i)
      ASSERT_EQ(values[step * 4 * columns + i], ExampleRun::number('p', i, step + 1));
}

void expect_steps(const fs::path& path, std::size_t steps) {
  const auto rejections = read_numbers(path, "/steps/rejections", {steps});
  const auto residual = read_numbers(path, "/steps/residual", {steps});
  for (std::size_t i = 0; i < steps; ++i) {
    ASSERT_EQ(rejections[i], static_cast<double>(i + 1 + 3));
    ASSERT_EQ(residual[i], static_cast<double>(i + 1));
  }
}

/// Rows of the events, in the order of entries.
std::vector<std::size_t> event_entries(std::size_t rows) {
  std::vector<std::size_t> entries;
  for (std::size_t row = 0; row < rows; ++row)
    entries.insert(entries.end(), ExampleRun::events_at(row), row);
  return entries;
}

void expect_left_limits(const fs::path& path, const char* dataset, char kind,
                        const std::vector<std::size_t>& entries, std::size_t columns) {
  const auto values = read_numbers(path, dataset, {entries.size(), columns});
  for (std::size_t i = 0; i < entries.size(); ++i)
    for (std::size_t column = 0; column < columns; ++column)
      ASSERT_EQ(values[i * columns + column], ExampleRun::number(kind, column, entries[i]))
          << dataset << " entry " << i << " column " << column;
}

void expect_events(const fs::path& path, std::size_t rows) {
  const auto entries = event_entries(rows);
  const auto time = read_numbers(path, "/events/time", {entries.size()});
  for (std::size_t i = 0; i < entries.size(); ++i) ASSERT_EQ(time[i], ExampleRun::time(entries[i]));
  expect_left_limits(path, "/events/outputs", 'l', entries, 14);
  expect_left_limits(path, "/events/inputs", 'm', entries, 7);
  expect_left_limits(path, "/events/states", 'n', entries, 21);
  const auto texts = ResultsReader(path).read_events();
  ASSERT_EQ(texts.size(), entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t nth = i > 0 && entries[i] == entries[i - 1] ? 1 : 0;
    const RecordedEvent expected = ExampleRun::event(entries[i], nth);
    ASSERT_EQ(texts[i].subsystem, expected.subsystem);
    ASSERT_EQ(texts[i].what, expected.what);
  }
}

/// Everything that write_example wrote.
void expect_example(const fs::path& path, std::size_t rows) {
  const auto time = read_numbers(path, "/time", {rows});
  for (std::size_t row = 0; row < rows; ++row) ASSERT_EQ(time[row], ExampleRun::time(row));
  expect_table(path, "/outputs/values", 'y', rows, 14);
  expect_table(path, "/inputs/values", 'u', rows, 7);
  expect_table(path, "/inputs/derivatives", 'd', rows, 7);
  expect_table(path, "/states/values", 'x', rows, 21);
  expect_table(path, "/balance/values", 'b', rows, 7);
  expect_polynomials(path, rows - 1, 7);
  expect_events(path, rows);
  expect_steps(path, rows - 1);
  EXPECT_EQ(read_numbers(path, "/subsystems/micro_steps", {7}),
            (std::vector<double>{3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(read_numbers(path, "/subsystems/wall_time", {7}),
            (std::vector<double>{0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5}));
}

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// Runs `test(comm)` on the first 1, 2, 3 and 5 ranks, as far as there are so many.
template <class Test>
void on_first_ranks(Test test) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (const int ranks : {1, 2, 3, 5}) {
    if (ranks > size) break;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank() < ranks ? 0 : MPI_UNDEFINED, 0, &comm);
    if (comm != MPI_COMM_NULL) {
      test(comm);
      MPI_Comm_free(&comm);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

std::string bytes_of(const fs::path& path) {
  if (!fs::is_regular_file(path)) return "";
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The message of the InputError that creating the file gives, the same on every rank; the file,
/// if there is one, must not change.
std::string refusal(const fs::path& path, const std::string& model = "example") {
  MPI_Barrier(MPI_COMM_WORLD);
  const std::string before = bytes_of(path);
  ExampleRun run(MPI_COMM_WORLD, 3);
  run.layout.model_name = model;
  std::string message = "not refused";
  try {
    const ResultsWriter writer(MPI_COMM_WORLD, path, run.layout);
  } catch (const InputError& error) {
    message = error.what();
  }
  EXPECT_EQ(bytes_of(path), before);
  MPI_Barrier(MPI_COMM_WORLD);
  return message;
}

}  // namespace

TEST(ResultsWriter, GivesTheSameDatasetsOnAnyNumberOfRanks) {
  const TestFolder folder;
  for (const auto& [rows, flush_every] :
       {std::pair{1, 0}, {2, 1}, {50, 0}, {50, 7}, {3000, 0}, {3000, 900}})
    on_first_ranks([&](MPI_Comm comm) {
      const fs::path path = folder / "run.h5";
      write_example(comm, path, static_cast<std::size_t>(rows),
                    static_cast<std::size_t>(flush_every));
      if (world_rank() == 0) expect_example(path, static_cast<std::size_t>(rows));
    });
}

TEST(ResultsWriter, WritesByItselfWhenTheBufferIsFull) {
  const TestFolder folder;
  on_first_ranks([&](MPI_Comm comm) {
    const fs::path path = folder / "full.h5";
    ExampleRun run(comm, 2000, false);  // 2000 * 8 * 2 doubles: some hundred rows fill the buffer
    ResultsWriter writer(comm, path, run.layout);
    for (std::size_t row = 0; row < 700; ++row) run.append(writer, row);
    MPI_Barrier(comm);
    if (world_rank() == 0) {
      EXPECT_GT(ResultsReader(path).time().size(), 1u);
    }
    MPI_Barrier(comm);
    writer.close(RunStatus::completed, run.costs());
    if (world_rank() == 0) expect_table(path, "/outputs/values", 'y', 700, 4000);
  });
}

TEST(ResultsWriter, FlushedFileReadsWhileTheRunGoesOn) {
  const TestFolder folder;
  on_first_ranks([&](MPI_Comm comm) {
    const fs::path path = folder / "open.h5";
    {
      ExampleRun run(comm, 7);
      ResultsWriter writer(comm, path, run.layout);
      for (std::size_t row = 0; row < 12; ++row) run.append(writer, row);
      writer.flush();
      run.append(writer, 12);
      MPI_Barrier(comm);
      if (world_rank() == 0) {
        EXPECT_EQ(ResultsReader(path).time().size(), 12u);
      }
      MPI_Barrier(comm);
    }
    if (world_rank() != 0) return;
    const ResultsReader after(path);
    EXPECT_EQ(after.status(), "running");
    EXPECT_EQ(after.time().size(), 12u);
    expect_table(path, "/states/values", 'x', 12, 21);
  });
}

/// Several at one instant are one row at an event, whose left limits are those before the first.
TEST(ResultsReader, KnowsWhatWasBeforeEvents) {
  const TestFolder folder;
  const fs::path path = folder / "events.h5";
  write_example(MPI_COMM_WORLD, path, 23);
  if (world_rank() == 0) {
    const ResultsReader results(path);
    EXPECT_EQ(results.events().size(), 6u);
    std::vector<std::size_t> rows;
    for (const EventRow& event : results.event_rows()) rows.push_back(event.row);
    EXPECT_EQ(rows, (std::vector<std::size_t>{5, 10, 15, 20}));
    const std::size_t wanted[] = {3};
    EXPECT_EQ(results.read_left_columns("/outputs/values", wanted)[0][2],
              ExampleRun::number('l', 3, 15));
    EXPECT_EQ(results.read_left_columns("/balance/values", wanted)[0][1],
              ExampleRun::number('b', 3, 10));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(ResultsWriter, LeavesOutWhatIsNotRecorded) {
  const TestFolder folder;
  const fs::path path = folder / "little.h5";
  ExampleRun run(MPI_COMM_WORLD, 3, false);
  run.layout.outputs = {};
  run.layout.states = {};
  run.layout.states.recorded = false;
  run.layout.balance = {};
  run.layout.balance.recorded = false;
  ResultsWriter writer(MPI_COMM_WORLD, path, run.layout);
  run.append(writer, 0);
  run.append(writer, 1);
  writer.close(RunStatus::interrupted, run.costs());
  if (world_rank() == 0) {
    const Hdf5Properties access = file_access();
    const Hdf5File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access));
    EXPECT_GT(H5Lexists(file, "outputs", H5P_DEFAULT), 0);
    EXPECT_EQ(H5Lexists(file, "states", H5P_DEFAULT), 0);
    EXPECT_EQ(H5Lexists(file, "balance", H5P_DEFAULT), 0);
    EXPECT_EQ(H5Lexists(file, "inputs/polynomials", H5P_DEFAULT), 0);
    EXPECT_EQ(H5Lexists(file, "events/states", H5P_DEFAULT), 0);
    EXPECT_EQ(read_string_attribute(file, "status"), "interrupted");
    EXPECT_TRUE(read_numbers(path, "/outputs/values", {2, 0}).empty());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(ResultsWriter, RefusesWithoutOverwriting) {
  const TestFolder folder;
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos ? testing::AssertionSuccess()
                                                : testing::AssertionFailure() << text;
  };
  EXPECT_TRUE(contains(refusal(folder / "missing/run.h5"), "there is no folder"));
  const fs::path subfolder = folder / "folder.h5";
  if (world_rank() == 0) fs::create_directory(subfolder);
  EXPECT_TRUE(contains(refusal(subfolder), "it is a folder"));
  EXPECT_TRUE(contains(refusal("/dev/full"), "not a regular file"));
  const fs::path text = folder / "text.h5";
  if (world_rank() == 0) std::ofstream(text) << "no results\n";
  EXPECT_TRUE(contains(refusal(text), "not a readable HDF5 file"));
  const fs::path foreign = folder / "foreign.h5";
  if (world_rank() == 0)
    Hdf5File(H5Fcreate(foreign.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)).close();
  EXPECT_TRUE(contains(refusal(foreign), "not a Concord results file"));
  const fs::path other = folder / "other.h5";
  write_example(MPI_COMM_WORLD, other, 5);
  EXPECT_TRUE(contains(refusal(other, "wing"), "another model, 'example', not of 'wing'"));
}

TEST(ResultsWriter, ReplacesResultsOfTheSameModel) {
  const TestFolder folder;
  const fs::path path = folder / "again.h5";
  write_example(MPI_COMM_WORLD, path, 40);
  write_example(MPI_COMM_WORLD, path, 5);
  if (world_rank() == 0) expect_example(path, 5);
  if (world_rank() == 0) {
    EXPECT_EQ(std::distance(fs::directory_iterator(folder / "."), fs::directory_iterator()), 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// A limit on the size of files stands for a full disk.
TEST(ResultsWriter, FullDiskIsAnErrorOnEveryRankAndKeepsTheRowsBefore) {
  const TestFolder folder;
  const fs::path path = folder / "disk.h5";
  ExampleRun run(MPI_COMM_WORLD, 7);
  ResultsWriter writer(MPI_COMM_WORLD, path, run.layout);
  for (std::size_t row = 0; row < 100; ++row) run.append(writer, row);
  writer.flush();
  for (std::size_t row = 100; row < 5000; ++row) run.append(writer, row);

  rlimit unlimited{};
  getrlimit(RLIMIT_FSIZE, &unlimited);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limited = unlimited;
  limited.rlim_cur = fs::file_size(path) + 30000;
  MPI_Barrier(MPI_COMM_WORLD);
  setrlimit(RLIMIT_FSIZE, &limited);
  EXPECT_THROW(writer.flush(), SimulationError);
  run.append(writer, 5000);
  EXPECT_THROW(writer.flush(), SimulationError);
  EXPECT_NO_THROW(writer.close(RunStatus::failed, run.costs()));
  setrlimit(RLIMIT_FSIZE, &unlimited);
  if (world_rank() == 0) expect_example(path, 100);
  if (world_rank() == 0) {
    EXPECT_EQ(ResultsReader(path).status(), "failed");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// A block and the frame of the file are larger than so little: a part for each flush.
constexpr std::uint64_t a_part_per_flush = 20000, several_flushes_per_part = 1500000;

TEST(ResultsWriter, PartsShowTheSameDatasetsOnAnyNumberOfRanks) {
  const TestFolder folder;
  int number = 0;
  for (const auto& [rows, flush_every, part_bytes] : {std::tuple{50, 7, a_part_per_flush},
                                                      {1, 0, a_part_per_flush},
                                                      {6000, 900, several_flushes_per_part}})
    on_first_ranks([&](MPI_Comm comm) {
      const fs::path path = folder / ("run" + std::to_string(++number) + ".h5").c_str();
      write_example(comm, path, static_cast<std::size_t>(rows),
                    static_cast<std::size_t>(flush_every), part_bytes);
      if (world_rank() != 0) return;
      expect_example(path, static_cast<std::size_t>(rows));
      const ResultsReader results(path);
      EXPECT_EQ(results.time().size(), static_cast<std::size_t>(rows));
      const std::size_t wanted[] = {20, 3};
      const auto states = results.read_columns("/states/values", wanted);
      for (std::size_t row = 0; row < states[0].size(); ++row) {
        ASSERT_EQ(states[0][row], ExampleRun::number('x', 20, row));
        ASSERT_EQ(states[1][row], ExampleRun::number('x', 3, row));
      }
      const auto events = results.read_events();
      const auto entries = event_entries(static_cast<std::size_t>(rows));
      ASSERT_EQ(events.size(), entries.size());
      for (std::size_t i = 0; i < events.size(); ++i)
        ASSERT_EQ(events[i].what, "what of row " + std::to_string(entries[i]));
    });
}

TEST(ResultsWriter, GoesOnBehindAnyRowOfAnyPart) {
  const TestFolder folder;
  std::vector<std::size_t> rows{1, 7, 15, 16, 43};
  if (std::getenv("CONCORD_LONG") != nullptr) rows.insert(rows.end(), {8, 29, 42});
  for (const std::size_t left : rows) {
    const fs::path path = folder / ("run" + std::to_string(left) + ".h5").c_str();
    write_example(MPI_COMM_WORLD, path, 43, 7, a_part_per_flush);
    MPI_Barrier(MPI_COMM_WORLD);
    ExampleRun run(MPI_COMM_WORLD, 7);
    run.layout.part_bytes = a_part_per_flush;
    ResultsWriter writer(MPI_COMM_WORLD, path, run.layout);
    writer.resume({run.layout.run, {left, left - 1, event_entries(left).size()}});
    for (std::size_t row = left; row < 60; ++row) {
      run.append(writer, row);
      if (row % 11 == 0) writer.flush();
    }
    writer.close(RunStatus::completed, run.costs());
    if (world_rank() == 0) {
      expect_example(path, 60);
      EXPECT_EQ(ResultsReader(path).time().size(), 60u);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(ResultsWriter, APartThatCannotBeBegunIsAnErrorOnEveryRankAndKeepsTheRowsBefore) {
  const TestFolder folder;
  const fs::path path = folder / "way.h5";
  ExampleRun run(MPI_COMM_WORLD, 7);
  run.layout.part_bytes = a_part_per_flush;
  ResultsWriter writer(MPI_COMM_WORLD, path, run.layout);
  for (std::size_t row = 0; row < 10; ++row) run.append(writer, row);
  writer.flush();
  const fs::path way = folder / ("way.h5.parts/" + run.layout.run + "-0002.h5").c_str();
  if (world_rank() == 0) std::ofstream(way) << "mine";
  for (std::size_t row = 10; row < 20; ++row) run.append(writer, row);
  EXPECT_THROW(writer.flush(), SimulationError);
  EXPECT_NO_THROW(writer.close(RunStatus::failed, run.costs()));
  if (world_rank() == 0) {
    expect_example(path, 10);
    EXPECT_EQ(ResultsReader(path).status(), "failed");
    EXPECT_EQ(bytes_of(way), "mine");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace concord::test
