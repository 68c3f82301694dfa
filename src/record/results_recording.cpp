#include <optional>

#include "concord/errors.hpp"
#include "concord/results_file.hpp"
#include "record/recorder.hpp"
#include "simulation/run_quality.hpp"
#include "simulation/run_summary.hpp"
#include "simulation/simulation_core.hpp"
#include "simulation/stop_requests.hpp"
#include "support/agreement.hpp"
#include "support/wording.hpp"

namespace concord {

class ResultsFile::Recording : public StepObserver {
 public:
  Recording(Simulation& simulation, const std::string& path, const std::string& command_line)
      : core_(simulation.core()), flushes_(core_.plan().comm, std::nullopt), last_(core_.time()) {
    simulation.require_started("a results file");
    const std::string& file = path.empty() ? core_.plan().settings.record.path : path;
    collectively(core_.plan().comm, [&] {
      recorder_.emplace(core_, file, command_line);
      recorder_->start();
    });
    core_.observe(*this);
  }
  ~Recording() override { core_.forget(*this); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  void step_accepted(const StepReport& report) override {
    if (report.step.begin < last_) {
      throw InputError("the results file " + in_quotes(path()) + " has rows up to t = " +
                       exact_number(last_) + " s, and the simulation went back to " +
                       exact_number(report.step.begin) + " s; close the file before restoring");
    }
    last_ = report.step.end;
    summary_.step_accepted(report);
    recorder_->step_accepted(report);
    flushes_.go_on(report.wall_time, false, [&] { recorder_->flush(); });
  }

  void flush() { recorder_->flush(); }

  void close() {
    const RunQuality quality = quality_of(core_, summary_);
    recorder_->close(core_.failed() ? RunStatus::failed : status_of(core_, quality),
                     costs_of(core_), quality);
  }

 private:
  const std::string& path() const { return recorder_->path(); }

  SimulationCore& core_;
  StopRequests flushes_;
  std::optional<Recorder> recorder_;
  RunSummary summary_;
  double last_;  ///< s, of the last row or one after it
};

ResultsFile::ResultsFile(Simulation& simulation, const std::string& path,
                         const std::string& command_line)
    : recording_(std::make_unique<Recording>(simulation, path, command_line)) {}

ResultsFile::~ResultsFile() = default;
ResultsFile::ResultsFile(ResultsFile&&) noexcept = default;
ResultsFile& ResultsFile::operator=(ResultsFile&&) noexcept = default;

void ResultsFile::flush() {
  if (recording_) recording_->flush();
}

void ResultsFile::close() {
  if (!recording_) throw InputError("the results file was closed before");
  const std::unique_ptr<Recording> last = std::move(recording_);
  last->close();
}

}  // namespace concord
