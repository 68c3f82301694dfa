#include "record/recorder.hpp"

#include <fnmatch.h>

#include <algorithm>

#include "support/log_events.hpp"
#include "support/options.hpp"

namespace concord {
namespace {

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

/// Columns of one kind of variable: `ranges` per subsystem in the file's order, `local` the
/// beginning of each of this rank's subsystems in its own arrays.
template <class RangeOf, class LocalOf, class UnitsOf>
RecordedColumns columns(const Model& model, const std::string& pattern,
                        const std::vector<std::string>& names, const RangeOf& range_of,
                        const LocalOf& local_of, const UnitsOf& variables_of) {
  RecordedColumns result;
  for (std::size_t k = 0; k < model.subsystems.size(); ++k) {
    const auto& variables = variables_of(model.subsystems[k].description);
    const IndexRange range = range_of(k);
    const auto local = local_of(k);
    for (std::size_t i = 0; i < range.size(); ++i) {
      const std::string& name = names[range.first + i];
      if (!pattern.empty() && fnmatch(pattern.c_str(), name.c_str(), 0) != 0) {
        continue;
      }
      if (local) {
        result.column.push_back(result.total);
        result.local_index.push_back(*local + i);
      }
      result.names.push_back(name);
      result.units.push_back(variables[i].unit);
      ++result.total;
    }
  }
  return result;
}

}  // namespace

Recorder::Recorder(MPI_Comm comm, const Model& model, const Settings& settings,
                   RankNetwork& subsystems, const Partition& share, const Coupling& coupling,
                   const std::string& command_line)
    : subsystems_(subsystems), coupling_(coupling), every_(settings.record.every) {
  const Network& network = subsystems.network();
  const RecordSettings& record = settings.record;
  const int rank = rank_in(comm);
  ResultsLayout layout;
  layout.model_name = model.name;
  layout.command_line = command_line;
  layout.petsc_options = options::all();
  std::vector<std::optional<std::size_t>> position(network.n_subsystems());
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const std::size_t g = subsystems.global(k);
    if (share.rank_of(g) == rank) {
      position[g] = k;
      own_subsystems_.push_back(k);
      layout.own_subsystems.push_back(g);
    }
  }
  const auto local = [&](auto offset_of) {
    return [&position, offset_of](std::size_t g) -> std::optional<std::size_t> {
      return position[g] ? std::optional(offset_of(*position[g])) : std::nullopt;
    };
  };
  layout.outputs.recorded = record.outputs;
  layout.inputs.recorded = record.inputs;
  layout.states.recorded = record.states;
  if (record.outputs) {
    layout.outputs = columns(
        model, record.pattern, network.output_names(),
        [&](std::size_t k) { return network.outputs_of(k); },
        local([&](std::size_t k) { return subsystems.outputs_of(k).first; }),
        [](const auto& d) -> const auto& { return d.outputs; });
  }
  if (record.inputs) {
    layout.inputs = columns(
        model, record.pattern, network.input_names(),
        [&](std::size_t k) { return network.inputs_of(k); },
        local([&](std::size_t k) { return subsystems.inputs_of(k).first; }),
        [](const auto& d) -> const auto& { return d.inputs; });
  }
  if (record.states) {
    layout.states = columns(
        model, record.pattern, network.state_names(),
        [&](std::size_t k) { return network.states_of(k); },
        local([&](std::size_t k) { return subsystems.states_of(k).first; }),
        [](const auto& d) -> const auto& { return d.states; });
    states_.resize(subsystems.n_states());
  }
  layout.polynomials = record.polynomials;
  layout.subsystem_ranks = share.ranks();
  for (const auto& entry : model.subsystems) {
    layout.subsystem_names.push_back(entry.description.name);
    layout.subsystem_kinds.push_back(entry.description.kind);
  }
  writer_.emplace(comm, record.path, layout);
}

/// `states` where the subsystems no longer have them.
ResultsRow Recorder::row(const CommunicationPoint& point, std::span<const double> states) {
  if (!states_.empty()) {
    const auto whole = states.empty() ? coupling_.states() : states;
    if (whole.empty()) {
      subsystems_.gather_states(states_);
    } else {
      std::copy(whole.begin(), whole.end(), states_.begin());
    }
  }
  return {point.time, point.outputs, point.inputs, states_, point.polynomials};
}

void Recorder::start(const CommunicationPoint& point) { writer_->append_start(row(point, {})); }

void Recorder::step_accepted(const StepReport& report) {
  const LogScope scope(log_events().record);
  sum_.size += report.step.size();
  sum_.iterations += report.coupling.iterations;
  sum_.coupling_evaluations += report.coupling.evaluations;
  sum_.linear_iterations += report.coupling.linear_iterations;
  sum_.rejections += report.rejections;
  sum_.residual = std::max(sum_.residual, report.coupling.residual);
  sum_.error_estimate = std::max(sum_.error_estimate, report.error_estimate);
  sum_.wall_time += report.wall_time;
  latest_ = report;
  if (++since_row_ == every_) {
    write_pending();
  }
}

void Recorder::write_pending() {
  if (since_row_ == 0) {
    return;
  }
  writer_->append(row(*latest_.point, latest_.states), sum_);
  sum_ = {};
  since_row_ = 0;
}

void Recorder::close(RunStatus status) {
  write_pending();
  std::vector<Counters> counters;
  for (const std::size_t k : own_subsystems_) {
    counters.push_back(coupling_.counters() != nullptr ? *coupling_.counters()
                                                       : subsystems_.own(k).counters());
  }
  writer_->close(status, counters);
}

}  // namespace concord
