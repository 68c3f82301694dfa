#include <gtest/gtest.h>
#include <petscsys.h>

#include <filesystem>
#include <fstream>

#include "concord/simulation.hpp"
#include "record/recorder.hpp"
#include "record/results_reader.hpp"
#include "unit/simulation/pair_model.hpp"

namespace concord {
namespace recorded_events_test {

namespace fs = std::filesystem;

constexpr double left_value = 40.0;

/// Gives the recorder the macro-steps of a run, with events that it did not have at the end of
/// some.
class WithEvents : public StepObserver {
 public:
  WithEvents(SimulationCore& core, Recorder& recorder, std::vector<std::int64_t> at)
      : core_(core), recorder_(recorder), at_(std::move(at)) {
    core_.observe(*this);
  }
  ~WithEvents() override { core_.forget(*this); }

  void step_accepted(const StepReport& report) override {
    StepReport told = report;
    const std::vector<EventReport> events{{1, "x < 0.5"}, {0, "every 0.1"}};
    LeftLimits left;
    left.outputs.resize(report.point->outputs.size(), {left_value, 0.0});
    left.inputs.resize(report.point->inputs.size(), {left_value, 0.0});
    left.states.resize(2, left_value);
    if (std::find(at_.begin(), at_.end(), report.index) != at_.end()) {
      told.events = events;
      told.left = &left;
    }
    recorder_.step_accepted(told);
  }

 private:
  SimulationCore& core_;
  Recorder& recorder_;
  std::vector<std::int64_t> at_;
};

class RecordedEvents : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / "recorded_events";
    fs::create_directories(folder_);
    std::ofstream(folder_ / "pair.yaml") << pair;
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Ten macro-steps.
  fs::path run(Options options, const std::vector<std::int64_t>& at) {
    options["cosim_step"] = "0.1";
    Simulation simulation(PETSC_COMM_SELF, model_file((folder_ / "pair.yaml").string()), options);
    simulation.start();
    const fs::path path = folder_ / "run.h5";
    Recorder recorder(simulation.core(), path.string(), "");
    recorder.start();
    const WithEvents events(simulation.core(), recorder, at);
    while (!simulation.finished()) simulation.advance();
    recorder.close(RunStatus::completed, {}, {});
    return path;
  }

  fs::path folder_;
};

std::vector<std::size_t> rows_of(const ResultsReader& results) {
  std::vector<std::size_t> rows;
  for (const EventRow& event : results.event_rows()) rows.push_back(event.row);
  return rows;
}

TEST_F(RecordedEvents, HaveTheirTextsAndLeftLimits) {
  const ResultsReader results(run({}, {3, 10}));
  EXPECT_EQ(rows_of(results), (std::vector<std::size_t>{3, 10}));
  EXPECT_EQ(results.events().size(), 4u);
  const auto texts = results.read_events();
  EXPECT_EQ(texts[0].subsystem, "b");
  EXPECT_EQ(texts[0].what, "x < 0.5");
  EXPECT_EQ(texts[3].subsystem, "a");
  EXPECT_EQ(texts[3].what, "every 0.1");
  const std::size_t wanted[] = {0};
  for (const char* quantity : {"/outputs/values", "/inputs/values", "/states/values"})
    EXPECT_EQ(results.read_left_columns(quantity, wanted)[0],
              (std::vector<double>{left_value, left_value}))
        << quantity;
}

/// A row that -cosim_record_every leaves out is there where something happened.
TEST_F(RecordedEvents, AreRowsWhateverIsLeftOut) {
  const ResultsReader results(run({{"cosim_record_every", "4"}}, {3, 6}));
  EXPECT_EQ(rows_of(results), (std::vector<std::size_t>{1, 2}));
  ASSERT_EQ(results.time().size(), 4u);
  EXPECT_NEAR(results.time()[1], 0.3, 1e-15);
  EXPECT_NEAR(results.time()[2], 0.6, 1e-15);
}

TEST_F(RecordedEvents, KeepTheirTimesWhereNothingElseIsRecorded) {
  const ResultsReader results(run({{"cosim_record", "none"}}, {3}));
  EXPECT_EQ(results.events().size(), 2u);
  EXPECT_EQ(rows_of(results), (std::vector<std::size_t>{3}));
  EXPECT_EQ(results.columns("/outputs/values"), 0u);
}

/// What the model knows ahead is an event of the same file.
TEST_F(RecordedEvents, TakeInTheTimesOfTheModel) {
  std::ofstream(folder_ / "pair.yaml") << pair << "events: [0.25, 0.5]\n";
  const ResultsReader results(run({{"cosim_record_every", "100"}}, {}));
  EXPECT_EQ(results.events(), (std::vector<double>{0.25, 0.5}));
  EXPECT_EQ(rows_of(results), (std::vector<std::size_t>{1, 2}));
  const std::size_t wanted[] = {1};
  const auto left = results.read_left_columns("/states/values", wanted)[0];
  const auto rows = results.read_columns("/states/values", wanted)[0];
  EXPECT_EQ(left, (std::vector<double>{rows[1], rows[2]}));
  EXPECT_EQ(results.read_events()[0].what, "event");
}

}  // namespace recorded_events_test
}  // namespace concord
