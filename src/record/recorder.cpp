#include "record/recorder.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <utility>

#include "concord/errors.hpp"
#include "network/start_problem.hpp"
#include "record/provenance.hpp"
#include "settings/record_options.hpp"
#include "subsystem/text_ports.hpp"
#include "support/agreement.hpp"
#include "support/hex_text.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"
#include "support/work_clock.hpp"
#include "units/units.hpp"

namespace concord {
namespace {

constexpr double unknown_slope = std::numeric_limits<double>::quiet_NaN();

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

/// Columns of one kind of variable: of the variables `of` a part, where this rank has variable i of
/// it in its own arrays (nothing: another one has it), and what is recorded of it, or nothing.
template <class Of, class LocalOf, class ColumnOf>
RecordedColumns columns(std::span<const WrittenPart> parts, const Of& of, const LocalOf& local_of,
                        const ColumnOf& column_of) {
  RecordedColumns result;
  for (const WrittenPart& part : parts) {
    const std::size_t count = of(part).size();
    for (std::size_t i = 0; i < count; ++i) {
      std::optional<Column> column = column_of(part, i);
      if (!column) {
        continue;
      }
      if (const std::optional<std::size_t> local = local_of(part, i)) {
        result.column.push_back(result.total);
        result.local_index.push_back(*local);
      }
      result.names.push_back(column->name);
      result.units.push_back(column->unit);
      result.display.push_back(column->display);
      ++result.total;
    }
  }
  result.names.shrink_to_fit();
  result.column.shrink_to_fit();
  result.local_index.shrink_to_fit();
  return result;
}

/// What has datasets of its own: whose files differ in it cannot go on in the same one.
std::string columns_in_words(const RecordSettings& record, bool slopes) {
  return "-cosim_record " + recorded(record) + " -cosim_record_variables " + record.variables +
         (record.grid.given() ? " on a grid of times" : " at communication points") +
         (slopes ? " with slopes" : "");
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
void add_links(const Network& network, std::span<const WrittenPart> parts, ResultsLayout& layout) {
  constexpr std::ptrdiff_t most = 10000;
  const auto& links = network.links();
  if (std::ranges::count_if(links, [](const auto& link) { return link.has_value(); }) > most)
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
  for (const WrittenPart& part : parts) {
    for (std::size_t i = 0; i < part.inputs.size(); ++i) {
      const WrittenInput& input = part.inputs[i];
      const auto& link = input.within ? input.within : links[input.input];
      if (!link) continue;
      const int loop =
          input.within || loop_of[link->output] != reaches[input.input] ? 0 : loop_of[link->output];
      layout.link_outputs.push_back(network.output_names()[link->output]);
      layout.link_inputs.push_back(
          whole_name(part.entry->description, part.entry->description.inputs[i].name));
      layout.link_loops.push_back(loop);
    }
  }
}

}  // namespace

Recorder::Recorder(SimulationCore& simulation, const std::string& path,
                   const std::string& command_line)
    : simulation_(simulation),
      path_(path),
      every_(simulation.plan().settings.record.every),
      grid_(simulation.plan().settings.record.grid),
      records_polynomials_(simulation.plan().settings.record.polynomials),
      knows_slopes_(simulation.plan().settings.method.ends_with_slopes()),
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
  const std::vector<WrittenPart> parts = written_parts(model, network);
  std::vector<std::optional<std::size_t>> position(network.n_subsystems());
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const std::size_t g = subsystems.global(k);
    if (share.rank_of(g) == rank) {
      position[g] = k;
    }
  }
  using Local = std::optional<std::size_t>;
  const auto of_outputs = [](const WrittenPart& part) { return part.outputs; };
  const auto of_states = [](const WrittenPart& part) { return part.states; };
  const auto of_inputs = [](const WrittenPart& part) { return std::span(part.inputs); };
  const auto own_output = [&](const WrittenPart& part, std::size_t i) -> Local {
    if (!position[part.subsystem]) return std::nullopt;
    return subsystems.local_output(part.outputs.first + i);
  };
  const auto own_state = [&](const WrittenPart& part, std::size_t i) -> Local {
    if (!position[part.subsystem]) return std::nullopt;
    return subsystems.states_of(*position[part.subsystem]).first + part.states.first + i -
           network.states_of(part.subsystem).first;
  };
  const auto own_input = [&](const WrittenPart& part, std::size_t i) -> Local {
    if (!position[part.subsystem]) return std::nullopt;
    const WrittenInput& input = part.inputs[i];
    if (!input.within) return subsystems.local_input(input.input);
    within_.push_back(*input.within);
    within_.back().output = subsystems.local_output(input.within->output);
    return subsystems.n_inputs() + within_.size() - 1;
  };
  const auto variables = [&](auto list) {
    return [&, list](const WrittenPart& part, std::size_t i) -> std::optional<Column> {
      const SubsystemDescription& d = part.entry->description;
      const auto& variable = (d.*list)[i];
      std::string name = whole_name(d, variable.name);
      if (!record.takes(name)) {
        return std::nullopt;
      }
      return Column{std::move(name), variable.unit, part.entry->shown_unit(variable)};
    };
  };
  const auto connections = [&](const WrittenPart& part, std::size_t i) -> std::optional<Column> {
    const std::size_t global = part.inputs[i].input;
    auto name = part.inputs[i].within ? std::nullopt : network.connection(global);
    if (!name || !record.takes(network.input_names()[global])) {
      return std::nullopt;
    }
    const std::string unit = integral_unit(part.entry->description.inputs[i].unit);
    return Column{std::move(*name), unit, unit};
  };
  layout.outputs.recorded = record.outputs;
  layout.inputs.recorded = record.inputs;
  layout.states.recorded = record.states;
  if (record.outputs) {
    layout.outputs =
        columns(parts, of_outputs, own_output, variables(&SubsystemDescription::outputs));
  }
  if (record.outputs) find_text_outputs(parts, layout);
  if (record.inputs) {
    layout.inputs = columns(parts, of_inputs, own_input, variables(&SubsystemDescription::inputs));
  }
  if (record.states) {
    layout.states = columns(parts, of_states, own_state, variables(&SubsystemDescription::states));
    states_.resize(subsystems.n_states());
  }
  if (record.balance) {
    layout.balance = columns(parts, of_inputs, own_input, connections);
  }
  const Hold& hold = simulation.plan().settings.method.hold;
  layout.coefficients = !record.polynomials ? 0 : hold.ends_with_curvature() ? 6 : 4;
  layout.grid = record.grid.given();
  layout.slopes = knows_slopes_ && !layout.grid;
  if (layout.slopes) {
    exact_slopes_ = exact_slopes(subsystems);
    slopes_.resize(exact_slopes_.size());
    left_slopes_.resize(exact_slopes_.size());
    state_slopes_.resize(states_.size());
  }
  layout.compression = record.compression;
  layout.part_bytes = static_cast<std::uint64_t>(record.split.value_or(0.0) * 1e9);
  for (const WrittenPart& part : parts) {
    layout.subsystem_names.push_back(part.entry->description.name);
    layout.subsystem_kinds.push_back(part.entry->description.kind);
    layout.subsystem_ranks.push_back(share.rank_of(part.subsystem));
    layout.subsystem_groups.push_back(part.group);
  }
  add_links(network, parts, layout);
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
  const bool known = knows_slopes_ && point.slopes_known;
  take_slopes(point.outputs, known, slopes_);
  if (!known || !states.empty()) {
    std::ranges::fill(state_slopes_, unknown_slope);
  } else if (!state_slopes_.empty()) {
    simulation_.gather_state_slopes(state_slopes_);
  }
  return {.time = point.time,
          .outputs = point.outputs,
          .inputs = point.inputs,
          .states = states_,
          .polynomials =
              records_polynomials_ ? std::span(point.polynomials) : std::span<const Polynomial>(),
          .balance = balance != nullptr ? balance->accumulated() : std::span<const double>(),
          .slopes = slopes_,
          .state_slopes = state_slopes_};
}

/// Of outputs those that are exact; `known`: whether there are any.
void Recorder::take_slopes(std::span<const Sample> outputs, bool known,
                           std::vector<double>& slopes) const {
  for (std::size_t i = 0; i < slopes.size(); ++i)
    slopes[i] = known && exact_slopes_[i] ? outputs[i].derivative : unknown_slope;
}

/// With the inputs within groups, behind this rank's others.
ResultsRow Recorder::whole(ResultsRow row, std::vector<Sample>& inputs) const {
  if (within_.empty()) return row;
  inputs.assign(row.inputs.begin(), row.inputs.end());
  for (const Link& link : within_) inputs.push_back(link.arriving(row.outputs[link.output]));
  row.inputs = inputs;
  return row;
}

void Recorder::start() {
  writer_->append_start(whole(row(simulation_.stepper().point(), {}), inputs_));
  record_texts(simulation_.stepper().point().time);
}

void Recorder::step_accepted(const StepReport& report) {
  const PhaseScope scope(simulation_.subsystems().clock(), Phase::record);
  sums_.add(report);
  write_inside(report);
  record_texts(report.point->time);
  const ResultsRow accepted = row(*report.point, report.states);
  const bool event = record_events(report, accepted);
  ++since_row_;
  if (grid_.given() ? grid_.reaches(report.step.begin, report.step.end)
                    : event || since_row_ >= every_) {
    write(accepted);
  } else {
    kept_.keep(accepted);
  }
}

/// Those of subsystems that this rank records.
void Recorder::find_text_outputs(std::span<const WrittenPart> parts, ResultsLayout& layout) {
  const SimulationPlan& plan = simulation_.plan();
  const RankNetwork& subsystems = simulation_.subsystems();
  const int rank = rank_in(plan.comm);
  for (const WrittenPart& part : parts) {
    const auto& texts = part.entry->type->texts;
    for (std::size_t i = 0; texts && i < texts->outputs.size(); ++i) {
      const TextVariable& variable = texts->outputs[i];
      std::string name = whole_name(part.entry->description, variable.name);
      if (!plan.settings.record.takes(name)) continue;
      if (plan.share.rank_of(part.subsystem) == rank)
        text_outputs_.push_back({subsystems.local(part.subsystem), i, text_names_.size(),
                                 variable.kind == TextKind::bytes});
      text_names_.push_back(std::move(name));
      layout.text_types.emplace_back(name_of(variable.kind));
    }
  }
  layout.text_names = text_names_;
}

/// What has become others since it was recorded last, all of an instant, in the order of columns.
/// Collective where there are any.
void Recorder::record_texts(double time) {
  if (text_names_.empty()) return;
  const TextExchange& texts = *simulation_.subsystems().texts();
  std::string own;
  for (TextOutput& output : text_outputs_) {
    const std::uint64_t changes = texts.changes(output.subsystem)[output.index];
    const std::uint64_t untold = changes - std::exchange(output.told, changes);
    if (untold == 0) continue;
    const Texts& here = texts.at_instant(output.subsystem)[output.index];
    const Texts last{texts.outputs(output.subsystem)[output.index]};
    const std::span<const std::string> all = here.empty() ? last : here;
    for (const std::string& text : all.last(std::min<std::size_t>(untold, all.size()))) {
      const std::string shown = output.bytes ? hex_of_bytes(text) : text;
      own += std::to_string(output.column) + ' ' + std::to_string(shown.size()) + ' ' + shown;
    }
  }
  std::istringstream all(joined_texts(simulation_.plan().comm, own));
  std::multimap<std::size_t, std::string> changed;
  for (std::size_t column = 0, size = 0; all >> column >> size && all.get();) {
    std::string& text = changed.emplace(column, "")->second;
    text.resize(size);
    all.read(text.data(), static_cast<std::streamsize>(size));
  }
  for (auto& [column, text] : changed)
    writer_->append_text({time, text_names_[column], std::move(text)});
}

/// What there is now has been recorded, or nothing has.
void Recorder::forget_texts(bool told) {
  for (TextOutput& output : text_outputs_)
    output.told =
        told ? simulation_.subsystems().texts()->changes(output.subsystem)[output.index] : 0;
}

/// On a grid, macro-steps are recorded by themselves.
void Recorder::write_inside(const StepReport& report) {
  if (!grid_.given()) {
    return;
  }
  for (const PassedPoint& inside : report.inside) {
    writer_->append_row(
        whole({inside.time, inside.outputs, inside.inputs, inside.states, {}, {}}, inputs_));
  }
  const CommunicationPoint& end = *report.point;
  writer_->append_step({end.time, end.outputs, end.inputs, {}, end.polynomials, {}}, sums_);
  sums_.clear();
}

/// Those of subsystems, and the model's own times. Whether there was one.
bool Recorder::record_events(const StepReport& report, const ResultsRow& row) {
  const auto& times = simulation_.plan().settings.events;
  const bool known = std::binary_search(times.begin(), times.end(), report.step.end);
  if (!known && report.events.empty()) {
    return false;
  }
  ResultsRow left = row;
  left.outputs = report.left->outputs;
  left.inputs = report.left->inputs;
  left.states = report.left->states;
  const bool slopes_known = knows_slopes_ && report.left->slopes_known;
  take_slopes(left.outputs, slopes_known, left_slopes_);
  left.slopes = left_slopes_;
  left.state_slopes = slopes_known ? report.left->state_slopes : std::span<const double>();
  left = whole(left, left_inputs_);
  const ResultsRow right = whole(row, inputs_);
  if (known) {
    writer_->append_event(left, right, {"", "event"});
  }
  for (const EventReport& event : report.events) {
    writer_->append_event(left, right, recorded(event));
  }
  return true;
}

/// Of a group that of who is within: "relay: T > 21".
RecordedEvent Recorder::recorded(const EventReport& event) const {
  const SubsystemDescription& d = simulation_.plan().model.subsystems[event.subsystem].description;
  const std::string between = ": ";
  const std::size_t end = is_group(d) ? event.what.find(between) : std::string::npos;
  if (end == std::string::npos) return {d.name, event.what};
  return {event.what.substr(0, end), event.what.substr(end + between.size())};
}

/// What cannot be written is not tried again at the end.
void Recorder::write(const ResultsRow& row) {
  since_row_ = 0;
  if (grid_.given()) {
    writer_->append_row(whole(row, inputs_));
  } else {
    writer_->append(whole(row, inputs_), sums_);
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
  slopes.assign(row.slopes.begin(), row.slopes.end());
  state_slopes.assign(row.state_slopes.begin(), row.state_slopes.end());
}

ResultsRow Recorder::Kept::row() const {
  return {time, outputs, inputs, states, polynomials, balance, slopes, state_slopes};
}

void Recorder::io(Archive& archive) {
  ResultsPosition position = writer_->position();
  std::string columns = columns_, file = path_;
  CONCORD_MEMBERS(archive, position, columns, file, runs_, sums_, since_row_, kept_);
  if (!archive.reading()) {
    return;
  }
  forget_texts(true);
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
  writer_->append_start(whole(row(simulation_.stepper().point(), {}), inputs_), earlier);
  forget_texts(false);
  record_texts(simulation_.stepper().point().time);
}

void Recorder::close(RunStatus status, RunCosts costs, const RunQuality& quality) {
  if (since_row_ > 0) {
    write(kept_.row());
  }
  writer_->close(status, std::move(costs), quality);
}

}  // namespace concord
