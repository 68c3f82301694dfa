#pragma once

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "record/results_writer.hpp"

namespace concord::test {

/// A made-up run of `subsystems` subsystems, dealt to the ranks in turn, with 2 outputs, 1 input,
/// which has a balance error, and 3 states each. Every number follows from its name, column and
/// row, whatever the ranks.
struct ExampleRun {
  ExampleRun(MPI_Comm comm, std::size_t subsystems, bool polynomials = true) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    layout.model_name = "example";
    layout.command_line = "concord run example.yaml";
    layout.run = "0123456789abcdef";
    layout.petsc_options = "-cosim_step 0.1";
    layout.ranks = static_cast<std::size_t>(ranks);
    layout.coefficients = polynomials ? 4 : 0;
    layout.balance.recorded = true;
    for (std::size_t k = 0; k < subsystems; ++k) {
      // Neither contiguous nor even; the last of four or more ranks owns nothing.
      const int owner = ranks < 4 ? static_cast<int>(k) % ranks : static_cast<int>(k) % (ranks - 1);
      layout.subsystem_names.push_back("s" + std::to_string(k));
      layout.subsystem_kinds.push_back("native");
      layout.subsystem_ranks.push_back(0);
      layout.subsystem_groups.push_back(0);
      add(layout.outputs, k, 2, "y", "m", owner == rank);
      add(layout.inputs, k, 1, "u", "N", owner == rank);
      add(layout.states, k, 3, "x", "", owner == rank);
      add(layout.balance, k, 1, "b", "N.s", owner == rank);
    }
    outputs.resize(layout.outputs.column.size() + 1);
    inputs.resize(layout.inputs.column.size());
    states.resize(layout.states.column.size());
    polynomial.resize(layout.inputs.column.size());
    balance.resize(layout.balance.column.size());
  }

  static double number(char kind, std::size_t column, std::size_t row) {
    return std::sin(0.1 * static_cast<double>(row) + static_cast<double>(column)) + kind;
  }
  static double time(std::size_t row) { return 0.1 * static_cast<double>(row); }

  static StepSums step(std::size_t row) {
    const auto x = static_cast<double>(row);
    return StepSums({0.1, x, x + 1.0, x + 2.0, x + 3.0, x, x + 0.25, x + 0.5});
  }

  ResultsRow row(std::size_t index) {
    const auto& y = layout.outputs;
    for (std::size_t i = 0; i < y.column.size(); ++i)
      outputs[y.local_index[i]].value = number('y', y.column[i], index);
    for (std::size_t i = 0; i < layout.inputs.column.size(); ++i) {
      const std::size_t column = layout.inputs.column[i];
      inputs[i] = {number('u', column, index), number('d', column, index)};
      for (std::size_t p = 0; p < 4; ++p) polynomial[i].c[p] = number('p', 4 * column + p, index);
    }
    for (std::size_t i = 0; i < layout.states.column.size(); ++i)
      states[i] = number('x', layout.states.column[i], index);
    for (std::size_t i = 0; i < layout.balance.column.size(); ++i)
      balance[i] = number('b', layout.balance.column[i], index);
    return {time(index), outputs, inputs, states, polynomial, balance};
  }

  /// Events at every 5th row; two at every 10th.
  static std::size_t events_at(std::size_t row) {
    return row == 0 || row % 5 != 0 ? 0 : row % 10 == 0 ? 2 : 1;
  }
  static RecordedEvent event(std::size_t row, std::size_t i) {
    return {i == 0 ? "" : "s1", "what of row " + std::to_string(row)};
  }

  ResultsRow left_of(std::size_t index) {
    ResultsRow left = row(index);
    for (std::size_t i = 0; i < layout.outputs.column.size(); ++i)
      outputs[layout.outputs.local_index[i]].value = number('l', layout.outputs.column[i], index);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      inputs[i].value = number('m', layout.inputs.column[i], index);
    for (std::size_t i = 0; i < states.size(); ++i)
      states[i] = number('n', layout.states.column[i], index);
    return left;
  }

  void append(ResultsWriter& writer, std::size_t index) {
    if (index == 0) return writer.append_start(row(0));
    for (std::size_t i = 0; i < events_at(index); ++i)
      writer.append_event(left_of(index), left_of(index), event(index, i));
    writer.append(row(index), step(index));
  }

  RunCosts costs() const {
    RunCosts result;
    for (std::size_t k = 0; k < layout.subsystem_names.size(); ++k) {
      const auto i = static_cast<std::int64_t>(k);
      result.subsystems.push_back({i + 1, i + 2, i + 3, i + 4, static_cast<double>(k) + 0.5});
    }
    return result;
  }

  ResultsLayout layout;
  std::vector<Sample> outputs, inputs;  // outputs: the first entry belongs to no column
  std::vector<double> states, balance;
  std::vector<Polynomial> polynomial;

 private:
  static void add(RecordedColumns& columns, std::size_t subsystem, std::size_t count,
                  const char* name, const char* unit, bool own) {
    for (std::size_t i = 0; i < count; ++i) {
      columns.names.push_back("s" + std::to_string(subsystem) + "." + name + std::to_string(i));
      columns.units.push_back(unit);
      columns.display.push_back(unit);
      if (own) {
        columns.local_index.push_back(columns.column.size() + (name[0] == 'y' ? 1 : 0));
        columns.column.push_back(columns.total);
      }
      ++columns.total;
    }
  }
};

/// A folder of this test program, the same on all ranks of comm; rank 0 creates and removes it.
class TestFolder {
 public:
  explicit TestFolder(MPI_Comm comm = MPI_COMM_WORLD) : comm_(comm) {
    long process = getpid();
    MPI_Bcast(&process, 1, MPI_LONG, 0, comm);
    path_ = std::filesystem::temp_directory_path() / ("concord_record_" + std::to_string(process));
    MPI_Comm_rank(comm, &rank_);
    if (rank_ == 0) std::filesystem::create_directories(path_);
    MPI_Barrier(comm);
  }
  ~TestFolder() {
    MPI_Barrier(comm_);
    std::error_code ignored;
    if (rank_ == 0) std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  MPI_Comm comm_;
  int rank_ = 0;
  std::filesystem::path path_;
};

/// A run of `rows` rows in a completed file.
inline void write_example(MPI_Comm comm, const std::filesystem::path& path, std::size_t rows,
                          std::size_t flush_every = 0, std::uint64_t part_bytes = 0) {
  ExampleRun run(comm, 7);
  run.layout.part_bytes = part_bytes;
  ResultsWriter writer(comm, path, run.layout);
  for (std::size_t row = 0; row < rows; ++row) {
    run.append(writer, row);
    if (flush_every > 0 && row % flush_every == 0) writer.flush();
  }
  writer.close(RunStatus::completed, run.costs());
}

}  // namespace concord::test
