#include "record/recorder.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <random>
#include <utility>

#include "concord/errors.hpp"
#include "network/start_problem.hpp"
#include "record/provenance.hpp"
#include "settings/record_options.hpp"
#include "support/agreement.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"
#include "support/work_clock.hpp"
#include "units/units.hpp"

namespace concord {
namespace {

/// That no other run has.
std::string own_number() {
  std::random_device chance;
  char text[17];
  std::snprintf(text, sizeof text, "%08x%08x", chance(), chance());
  return text;
}

struct Column {
  std::string name, unit, display;
};

/// Columns of one kind of variable: `ranges` per subsystem in the file's order, `local` the
/// beginning of each of this rank's subsystems in its own arrays, `column_of` what is recorded of
/// variable i of subsystem k, or nothing.
template <class RangeOf, class LocalOf, class ColumnOf>
RecordedColumns columns(const Network& network, const RangeOf& range_of, const LocalOf& local_of,
                        const ColumnOf& column_of) {
  RecordedColumns result;
  for (std::size_t k = 0; k < network.n_subsystems(); ++k) {
    const IndexRange range = range_of(k);
    const auto local = local_of(k);
    for (std::size_t i = 0; i < range.size(); ++i) {
      std::optional<Column> column = column_of(k, i, range.first + i);
      if (!column) {
        continue;
      }
      if (local) {
        result.column.push_back(result.total);
        result.local_index.push_back(*local + i);
      }
      result.names.push_back(std::move(column->name));
      result.units.push_back(std::move(column->unit));
      result.display.push_back(std::move(column->display));
      ++result.total;
    }
  }
  return result;
}

/// What has datasets of its own: whose files differ in it cannot go on in the same one.
std::string columns_in_words(const RecordSettings& record, bool output_slopes) {
  return "-cosim_record " + recorded(record) + " -cosim_record_variables " + record.variables +
         (record.grid.given() ? " on a grid of times" : " at communication points") +
         (output_slopes ? " with slopes of outputs" : "");
}

/// Whether outputs have slopes at every communication point that belong to their values: of
/// explicit methods, and where inputs' slopes are not solved for, these are the holds'.
bool ends_with_slopes(const Method& method) {
  return !method.solve.from_past && (!method.solve.holds_inputs() || method.hold.unknowns > 1);
}

/// Of this rank's outputs those whose slopes are exact at communication points: in time, not
/// differences between these. None where the method doesn't ask for them, or not everywhere.
std::vector<bool> exact_slopes(const RankNetwork& subsystems) {
  std::vector<bool> exact(subsystems.n_outputs());
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const SubsystemDescription& d = subsystems.own(k).description();
    const std::size_t first = subsystems.outputs_of(k).first;
    const bool offered = d.capabilities.output_derivatives && d.capabilities.equations;
    for (std::size_t i = 0; i < d.outputs.size(); ++i)
      exact[first + i] = offered && d.outputs[i].kind == SignalKind::continuous;
  }
  return exact;
}

std::string initial_values_in(const Model& model) {
  std::string lines;
  if (!model.found_start) return lines;
  for (const auto& [name, value] : model.found_start->values)
    lines += name + "=" + exact_number(value) + "\n";
  return lines;
}

/// Of a model that can be drawn.
void add_links(const Network& network, ResultsLayout& layout) {
  constexpr std::ptrdiff_t most = 10000;
  const auto& links = network.links();
  if (std::count_if(links.begin(), links.end(), [](const auto& link) { return link.has_value(); }) >
      most)
    return;
  std::vector<int> loop_of(network.n_outputs(), 0);
  int loops = 0;
  for (const FeedthroughComponent& component : network.components()) {
    if (!component.loop) continue;
    ++loops;
    for (const std::size_t output : component.outputs) loop_of[output] = loops;
  }
  std::vector<int> reaches(network.n_inputs(), 0);
  for (const auto& [output, input] : network.feedthrough())
    if (loop_of[output] != 0) reaches[input] = loop_of[output];
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (!links[i]) continue;
    layout.link_outputs.push_back(network.output_names()[links[i]->output]);
    layout.link_inputs.push_back(network.input_names()[i]);
    const int loop = loop_of[links[i]->output];
    layout.link_loops.push_back(loop == reaches[i] ? loop : 0);
  }
}

}  // namespace

Recorder::Recorder(SimulationCore& simulation, const std::string& path,
                   const std::string& command_line)
    : simulation_(simulation),
      path_(path),
      every_(simulation.plan().settings.record.every),
      grid_(simulation.plan().settings.record.grid),
      knows_slopes_(ends_with_slopes(simulation.plan().settings.method)),
      columns_(columns_in_words(simulation.plan().settings.record, knows_slopes_)) {
  const MPI_Comm comm = simulation.plan().comm;
  const Model& model = simulation.plan().model;
  const Settings& settings = simulation.plan().settings;
  const Partition& share = simulation.plan().share;
  const RankNetwork& subsystems = simulation.subsystems();
  const Network& network = subsystems.network();
  const RecordSettings& record = settings.record;
  const int rank = rank_in(comm);
  ResultsLayout layout;
  layout.model_name = model.name;
  layout.command_line = command_line;
  layout.run = agree_on_text(comm, own_number()).value_or("");
  layout.ranks = static_cast<std::size_t>(ranks_of(comm));
  layout.changes = model.changes;
  layout.initial_values = initial_values_in(model);
  layout.petsc_options = simulation.plan().options;
  std::vector<std::optional<std::size_t>> position(network.n_subsystems());
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const std::size_t g = subsystems.global(k);
    if (share.rank_of(g) == rank) {
      position[g] = k;
    }
  }
  const auto local = [&](auto offset_of) {
    return [&position, offset_of](std::size_t g) -> std::optional<std::size_t> {
      return position[g] ? std::optional(offset_of(*position[g])) : std::nullopt;
    };
  };
  const auto variables = [&](const std::vector<std::string>& names, auto list) {
    return [&, list](std::size_t k, std::size_t i, std::size_t global) -> std::optional<Column> {
      if (!record.takes(names[global])) {
        return std::nullopt;
      }
      const auto& variable = (model.subsystems[k].description.*list)[i];
      return Column{names[global], variable.unit, model.subsystems[k].shown_unit(variable)};
    };
  };
  const auto connections = [&](std::size_t k, std::size_t i,
                               std::size_t global) -> std::optional<Column> {
    auto name = network.connection(global);
    if (!name || !record.takes(network.input_names()[global])) {
      return std::nullopt;
    }
    const std::string unit = integral_unit(model.subsystems[k].description.inputs[i].unit);
    return Column{std::move(*name), unit, unit};
  };
  const auto inputs_of = [&](std::size_t k) { return network.inputs_of(k); };
  const auto own_inputs = local([&](std::size_t k) { return subsystems.inputs_of(k).first; });
  layout.outputs.recorded = record.outputs;
  layout.inputs.recorded = record.inputs;
  layout.states.recorded = record.states;
  if (record.outputs) {
    layout.outputs = columns(
        network, [&](std::size_t k) { return network.outputs_of(k); },
        local([&](std::size_t k) { return subsystems.outputs_of(k).first; }),
        variables(network.output_names(), &SubsystemDescription::outputs));
  }
  if (record.inputs) {
    layout.inputs = columns(network, inputs_of, own_inputs,
                            variables(network.input_names(), &SubsystemDescription::inputs));
  }
  if (record.states) {
    layout.states = columns(
        network, [&](std::size_t k) { return network.states_of(k); },
        local([&](std::size_t k) { return subsystems.states_of(k).first; }),
        variables(network.state_names(), &SubsystemDescription::states));
    states_.resize(subsystems.n_states());
  }
  if (record.balance) {
    layout.balance = columns(network, inputs_of, own_inputs, connections);
  }
  const Hold& hold = simulation.plan().settings.method.hold;
  layout.coefficients = !record.polynomials ? 0 : hold.ends_with_curvature() ? 6 : 4;
  layout.output_slopes = knows_slopes_;
  if (knows_slopes_) {
    exact_slopes_ = exact_slopes(subsystems);
    slopes_.resize(exact_slopes_.size());
  }
  layout.grid = record.grid.given();
  layout.compression = record.compression;
  layout.part_bytes = static_cast<std::uint64_t>(record.split.value_or(0.0) * 1e9);
  layout.subsystem_ranks = share.ranks();
  for (const auto& entry : model.subsystems) {
    layout.subsystem_names.push_back(entry.description.name);
    layout.subsystem_kinds.push_back(entry.description.kind);
  }
  add_links(network, layout);
  add_provenance(simulation.plan(), simulation.file_prints(), command_line, layout);
  writer_.emplace(
      comm, path_, layout,
      settings.checkpoint.restart.empty() ? RunBegins::anew : RunBegins::perhaps_from_checkpoint);
}

/// `states` where the subsystems no longer have them.
ResultsRow Recorder::row(const CommunicationPoint& point, std::span<const double> states) {
  if (!states_.empty()) {
    if (states.empty()) {
      simulation_.gather_states(states_);
    } else {
      std::copy(states.begin(), states.end(), states_.begin());
    }
  }
  const BalanceErrors* balance = simulation_.stepper().coupling().balance();
  return with_slopes({point.time, point.outputs, point.inputs, states_, point.polynomials,
                      balance != nullptr ? balance->accumulated() : std::span<const double>()});
}

/// At a communication point.
ResultsRow Recorder::with_slopes(ResultsRow row) {
  for (std::size_t i = 0; i < slopes_.size(); ++i)
    slopes_[i] =
        exact_slopes_[i] ? row.outputs[i].derivative : std::numeric_limits<double>::quiet_NaN();
  row.slopes = slopes_;
  return row;
}

void Recorder::start() { writer_->append_start(row(simulation_.stepper().point(), {})); }

void Recorder::step_accepted(const StepReport& report) {
  const PhaseScope scope(simulation_.subsystems().clock(), Phase::record);
  sums_.add(report);
  write_inside(report);
  const ResultsRow accepted = row(*report.point, report.states);
  const bool event = record_events(report, accepted);
  ++since_row_;
  if (grid_.given() ? grid_.has(report.step.end) : event || since_row_ >= every_) {
    write(accepted);
  } else {
    kept_.keep(accepted);
  }
}

/// On a grid, macro-steps are recorded by themselves.
void Recorder::write_inside(const StepReport& report) {
  if (!grid_.given()) {
    return;
  }
  for (const PassedPoint& inside : report.inside) {
    writer_->append_row({inside.time, inside.outputs, inside.inputs, inside.states, {}, {}});
  }
  const CommunicationPoint& end = *report.point;
  writer_->append_step({end.time, end.outputs, end.inputs, {}, end.polynomials, {}}, sums_);
  sums_.clear();
}

/// Those of subsystems, and the model's own times. Whether there was one.
bool Recorder::record_events(const StepReport& report, const ResultsRow& row) {
  const SimulationPlan& plan = simulation_.plan();
  const auto& times = plan.settings.events;
  const bool known = std::binary_search(times.begin(), times.end(), report.step.end);
  if (!known && report.events.empty()) {
    return false;
  }
  ResultsRow left = row;
  left.outputs = report.left->outputs;
  left.inputs = report.left->inputs;
  left.states = report.left->states;
  if (known) {
    writer_->append_event(left, row, {"", "event"});
  }
  for (const EventReport& event : report.events) {
    writer_->append_event(left, row,
                          {plan.model.subsystems[event.subsystem].description.name, event.what});
  }
  return true;
}

/// What cannot be written is not tried again at the end.
void Recorder::write(const ResultsRow& row) {
  since_row_ = 0;
  if (grid_.given()) {
    writer_->append_row(row);
  } else {
    writer_->append(row, sums_);
    sums_.clear();
  }
}

void Recorder::Kept::keep(const ResultsRow& row) {
  time = row.time;
  outputs.assign(row.outputs.begin(), row.outputs.end());
  inputs.assign(row.inputs.begin(), row.inputs.end());
  states.assign(row.states.begin(), row.states.end());
  polynomials.assign(row.polynomials.begin(), row.polynomials.end());
  balance.assign(row.balance.begin(), row.balance.end());
}

void Recorder::io(Archive& archive) {
  ResultsPosition position = writer_->position();
  std::string columns = columns_, file = path_;
  CONCORD_MEMBERS(archive, position, columns, file, runs_, sums_, since_row_, kept_);
  if (!archive.reading()) {
    return;
  }
  if (columns != columns_) {
    runs_.push_back(position.run);
    begin_another(columns, file);
  } else if (const auto lost = writer_->resume(position)) {
    begin_without(position.run, *lost);
  }
}

std::vector<std::byte> Recorder::mark() const {
  Mark mark{writer_->position(), columns_};
  Archive archive;
  CONCORD_MEMBERS(archive, mark);
  return archive.bytes();
}

Recorder::Mark Recorder::read_mark(const std::vector<std::byte>& mark) {
  Archive archive(mark);
  Mark result;
  CONCORD_MEMBERS(archive, result);
  return result;
}

void Recorder::secure(const std::vector<std::byte>& mark) {
  writer_->secure(read_mark(mark).position);
}

std::optional<ResultsObstacle> Recorder::obstacle(const std::vector<std::byte>& mark) const {
  const Mark found = read_mark(mark);
  return found.columns == columns_ ? writer_->obstacle(found.position) : std::nullopt;
}

/// From this communication point on.
void Recorder::begin_another(const std::string& before, const std::string& earlier) {
  if (writer_->would_replace(runs_)) {
    throw InputError("the results file " + in_quotes(path_) + " was begun with " + before +
                     " and cannot go on with " + columns_ +
                     "; choose another file with -cosim_output, which then holds the rows from "
                     "here on, or record the same");
  }
  begin_here({earlier, {}});
  told_ =
      "; rows from here on are in " + in_quotes(path_) + ", those before in " + in_quotes(earlier);
}

/// From this communication point on: the rows of `run` are lost, or some of them.
void Recorder::begin_without(const std::string& run, const std::string& reason) {
  const std::string aside = writer_->set_aside();
  begin_here({aside, run});
  told_ = "; without the rows before, which begin here in " + in_quotes(path_) + ": " + reason +
          (aside.empty() ? "" : ", and is kept as " + in_quotes(aside));
}

void Recorder::begin_here(const EarlierRows& earlier) {
  sums_.clear();
  since_row_ = 0;
  writer_->append_start(row(simulation_.stepper().point(), {}), earlier);
}

void Recorder::close(RunStatus status, RunCosts costs, const RunQuality& quality) {
  if (since_row_ > 0) {
    write(with_slopes(kept_.row()));
  }
  writer_->close(status, std::move(costs), quality);
}

}  // namespace concord
