#pragma once

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>

#include "record/results_writer.hpp"

namespace concord::test {

/// A folder with results files of two subsystems: outputs left.x, right.x and input left.u.
class ResultsFixture : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  static ResultsLayout layout() {
    ResultsLayout layout;
    layout.model_name = "fixture";
    layout.outputs = columns({"left.x", "right.x"}, "m");
    layout.inputs = columns({"left.u"}, "N");
    layout.states.recorded = false;
    layout.slopes = true;  // of inputs: rows have none of outputs
    return layout;
  }

  /// `signal` at `rows` equidistant points of [begin, begin + 2 s]; its derivative by differences.
  std::string write(const std::string& name, int rows, const std::function<double(double)>& signal,
                    double begin = 0.0, const std::vector<double>& events = {}) const {
    ResultsWriter writer(MPI_COMM_SELF, file(name), layout());
    for (int i = 0; i < rows; ++i) {
      const double t = begin + 2.0 * i / std::max(1, rows - 1), d = 1e-5;
      const Sample sample{signal(t), (signal(t + d) - signal(t - d)) / (2 * d)};
      const std::vector<Sample> outputs(2, sample), inputs(1, sample);
      if (i > 0 && std::find(events.begin(), events.end(), t) != events.end())
        writer.append_event({t, outputs, inputs, {}, {}}, {t, outputs, inputs, {}, {}},
                            {"", "event"});
      if (i == 0)
        writer.append_start({t, outputs, inputs, {}, {}});
      else
        writer.append({t, outputs, inputs, {}, {}}, {});
    }
    writer.close(RunStatus::completed, {});
    return file(name);
  }

 private:
  static RecordedColumns columns(const std::vector<std::string>& names, const char* unit) {
    RecordedColumns result;
    for (const std::string& name : names) {
      result.names.push_back(name);
      result.units.push_back(unit);
      result.display.push_back(unit);
      result.column.push_back(result.total);
      result.local_index.push_back(result.total++);
    }
    return result;
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("concord_cli_results_" + std::to_string(getpid()));
};

}  // namespace concord::test
