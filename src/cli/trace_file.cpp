#include "cli/trace_file.hpp"

#include <exception>
#include <nlohmann/json.hpp>
#include <optional>

#include "files/text_output.hpp"
#include "support/agreement.hpp"
#include "support/messages.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

using Interval = WorkClock::Interval;
using Json = nlohmann::ordered_json;

Json named(const char* what, int rank, std::size_t thread, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", rank}, {"tid", thread}, {"args", {{"name", name}}}};
}

/// Thread 0 is the rank's own, subsystem k has thread k + 1.
class TraceFile {
 public:
  explicit TraceFile(const std::string& path) : output_(path) {
    output_.write("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n");
  }

  void add_rank(int rank, const std::vector<std::string>& subsystems) {
    add(named("process_name", rank, 0, "rank " + std::to_string(rank)));
    add(named("thread_name", rank, 0, "phases"));
    for (std::size_t k = 0; k < subsystems.size(); ++k) {
      add(named("thread_name", rank, k + 1, subsystems[k]));
    }
  }

  void add_interval(int rank, const Interval& interval) {
    constexpr double microseconds = 1e6;
    const bool phase = interval.subsystem == Interval::none;
    const std::size_t thread = phase ? 0 : interval.subsystem + std::size_t{1};
    add({{"name", phase ? phase_words[interval.what] : work_words[interval.what]},
         {"ph", "X"},
         {"pid", rank},
         {"tid", thread},
         {"ts", microseconds * interval.begin},
         {"dur", microseconds * (interval.end - interval.begin)}});
  }

  void close(std::size_t left_out) {
    output_.write("\n], \"otherData\": {\"intervals left out\": " + std::to_string(left_out) +
                  "}}\n");
    output_.close();
  }

 private:
  void add(const Json& event) {
    output_.write((first_ ? "" : ",\n") + event.dump());
    first_ = false;
  }

  TextOutput output_;
  bool first_ = true;
};

std::vector<std::string> names_on(const SimulationPlan& plan, int rank) {
  std::vector<std::string> names;
  for (std::size_t g = 0; g < plan.model.subsystems.size(); ++g) {
    if (plan.replicated || plan.share.rank_of(g) == rank) {
      names.push_back(plan.model.subsystems[g].description.name);
    }
  }
  return names;
}

}  // namespace

void write_trace_file(const std::string& path, const SimulationCore& simulation) {
  const SimulationPlan& plan = simulation.plan();
  const WorkClock& clock = simulation.subsystems().clock();
  const double left_out = agree_on_sum(plan.comm, static_cast<double>(clock.left_out()));
  if (rank_in(plan.comm) != 0) {
    send_bytes(plan.comm, bytes_of(clock.traced()), 0);
    return;
  }
  std::optional<TraceFile> file;
  std::exception_ptr failure;
  const auto attempt = [&](const auto& work) {
    try {
      if (!failure) work();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  attempt([&] { file.emplace(path); });
  for (int rank = 0; rank < ranks_of(plan.comm); ++rank) {
    const auto intervals =
        rank == 0 ? clock.traced() : items_in<Interval>(received_bytes(plan.comm, rank));
    attempt([&] {
      file->add_rank(rank, names_on(plan, rank));
      for (const Interval& interval : intervals) file->add_interval(rank, interval);
    });
  }
  attempt([&] { file->close(static_cast<std::size_t>(left_out)); });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace concord
