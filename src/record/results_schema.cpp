#include "record/results_schema.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <stdexcept>

namespace concord {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

bool always(const ResultsLayout& /*layout*/) { return true; }

template <RecordedColumns ResultsLayout::*columns>
bool recorded(const ResultsLayout& layout) {
  return (layout.*columns).recorded;
}

std::vector<std::string> all_of(const std::vector<std::string>& texts) { return texts; }
std::vector<std::string> all_of(const auto& texts) { return texts.all(); }

template <auto member>
std::vector<std::string> list_of(const ResultsLayout& layout) {
  return all_of(layout.*member);
}

template <RecordedColumns ResultsLayout::*columns, auto texts>
std::vector<std::string> texts_of(const ResultsLayout& layout) {
  return all_of(layout.*columns.*texts);
}

/// `number(row, i)` of each of this rank's columns.
template <auto number>
void fill(const ResultsRow& row, std::span<const std::size_t> local_index, std::span<double> to) {
  std::ranges::transform(local_index, to.begin(), [&](std::size_t i) { return number(row, i); });
}

double output_value(const ResultsRow& row, std::size_t i) { return row.outputs[i].value; }
double input_value(const ResultsRow& row, std::size_t i) { return row.inputs[i].value; }
double state_value(const ResultsRow& row, std::size_t i) { return row.states[i]; }
double output_slope(const ResultsRow& row, std::size_t i) {
  return row.slopes.empty() ? unknown : row.slopes[i];
}
double state_slope(const ResultsRow& row, std::size_t i) {
  return row.state_slopes.empty() ? unknown : row.state_slopes[i];
}
double balance_value(const ResultsRow& row, std::size_t i) { return row.balance[i]; }

void fill_time(const ResultsRow& row, std::span<const std::size_t> /*one*/, std::span<double> to) {
  to.front() = row.time;
}

void fill_polynomials(const ResultsRow& row, std::span<const std::size_t> local_index,
                      std::span<double> to) {
  if (row.polynomials.empty() || local_index.empty()) return;
  const std::size_t coefficients = to.size() / local_index.size();
  auto next = to.begin();
  for (const std::size_t i : local_index)
    next = std::copy_n(row.polynomials[i].c.begin(), coefficients, next);
}

template <auto member>
std::vector<double> of_all(const ResultsEnd& end) {
  std::vector<double> result;
  for (const Counters& counters : end.costs.subsystems)
    result.push_back(static_cast<double>(counters.*member));
  return result;
}

using Datasets = std::vector<ResultsDataset>;

/// Names, units, units to show them in, and values of one kind of variable.
template <RecordedColumns ResultsLayout::*columns, auto number>
void add_variables(Datasets& all, const std::string& group, Extent extent) {
  all.push_back({group + "/names",
                 Number::text,
                 {extent},
                 recorded<columns>,
                 KnownTexts{texts_of<columns, &RecordedColumns::names>}});
  all.push_back({group + "/units",
                 Number::text,
                 {extent},
                 recorded<columns>,
                 KnownTexts{texts_of<columns, &RecordedColumns::units>}});
  all.push_back({group + "/display_units",
                 Number::text,
                 {extent},
                 recorded<columns>,
                 KnownTexts{texts_of<columns, &RecordedColumns::display>}});
  all.push_back({group + "/values",
                 Number::f64,
                 {Extent::rows, extent},
                 recorded<columns>,
                 RowNumbers{columns, fill<number>}});
}

void add_outputs(Datasets& all) {
  add_variables<&ResultsLayout::outputs, output_value>(all, "/outputs", Extent::outputs);
  all.push_back(
      {"/outputs/derivatives",
       Number::f64,
       {Extent::rows, Extent::outputs},
       [](const ResultsLayout& layout) { return layout.outputs.recorded && layout.slopes; },
       RowNumbers{&ResultsLayout::outputs, fill<output_slope>},
       false});
  all.push_back({"/outputs/error_estimate",
                 Number::f64,
                 {Extent::outputs},
                 recorded<&ResultsLayout::outputs>,
                 FinalNumbers{unknown, [](const ResultsEnd& end) { return end.output_errors; }}});
}

void add_states(Datasets& all) {
  constexpr auto states = &ResultsLayout::states;
  add_variables<states, state_value>(all, "/states", Extent::states);
  all.push_back(
      {"/states/derivatives",
       Number::f64,
       {Extent::rows, Extent::states},
       [](const ResultsLayout& layout) { return layout.states.recorded && layout.slopes; },
       RowNumbers{states, fill<state_slope>},
       false});
}

void add_inputs(Datasets& all) {
  constexpr auto inputs = &ResultsLayout::inputs;
  add_variables<inputs, input_value>(all, "/inputs", Extent::inputs);
  constexpr auto slope = [](const ResultsRow& row, std::size_t i) {
    return row.inputs[i].derivative;
  };
  all.push_back({"/inputs/derivatives",
                 Number::f64,
                 {Extent::rows, Extent::inputs},
                 recorded<inputs>,
                 RowNumbers{inputs, fill<slope>}});
  all.push_back({"/inputs/polynomials",
                 Number::f64,
                 {Extent::steps, Extent::inputs, Extent::coefficients},
                 [](const ResultsLayout& layout) {
                   return layout.inputs.recorded && layout.coefficients > 0;
                 },
                 RowNumbers{inputs, fill_polynomials}});
}

void add_steps(Datasets& all) {
  std::size_t index = 0;
  for (const StepDataset& dataset : step_datasets())
    all.push_back(
        {dataset.path,
         dataset.number,
         {Extent::steps},
         dataset.of_grid ? [](const ResultsLayout& layout) { return layout.grid; } : always,
         StepNumber{index++}});
}

/// Entries of left limits at events: rows of their own.
template <RecordedColumns ResultsLayout::*columns, auto number>
void add_left_limits(Datasets& all, const char* path, Extent extent) {
  all.push_back({path,
                 Number::f64,
                 {Extent::events, extent},
                 recorded<columns>,
                 RowNumbers{columns, fill<number>}});
}

void add_events(Datasets& all) {
  all.push_back(
      {"/events/time", Number::f64, {Extent::events}, always, RowNumbers{nullptr, fill_time}});
  all.push_back({"/events/subsystem",
                 Number::text,
                 {Extent::events},
                 always,
                 EventTexts{&RecordedEvent::subsystem}});
  all.push_back(
      {"/events/what", Number::text, {Extent::events}, always, EventTexts{&RecordedEvent::what}});
  add_left_limits<&ResultsLayout::outputs, output_value>(all, "/events/outputs", Extent::outputs);
  add_left_limits<&ResultsLayout::inputs, input_value>(all, "/events/inputs", Extent::inputs);
  add_left_limits<&ResultsLayout::states, state_value>(all, "/events/states", Extent::states);
}

/// Of what rows have: what follows an event, which no row of a grid has, and slopes before it.
void add_limits(Datasets& all) {
  Datasets limits;
  for (const ResultsDataset& rows : all) {
    if (rows.extents.front() != Extent::rows || rows.extents.size() == 1) continue;
    if (rows.on_grids) {
      ResultsDataset right = rows;
      right.path = right_limits_of(rows.path);
      right.extents.front() = Extent::events;
      right.exists = [there = rows.exists](const ResultsLayout& layout) {
        return layout.grid && there(layout);
      };
      std::get<RowNumbers>(right.content).limit = Limit::right;
      limits.push_back(std::move(right));
    }
    if (!are_slopes(rows.path)) continue;
    ResultsDataset left = rows;
    left.path = left_limits_of(rows.path);
    left.extents.front() = Extent::events;
    limits.push_back(std::move(left));
  }
  std::ranges::move(limits, std::back_inserter(all));
}

/// Of models that have texts or bytes among their outputs.
void add_texts(Datasets& all) {
  const auto there = [](const ResultsLayout& layout) { return !layout.text_names.empty(); };
  const auto add = [&](const char* path, Number number, Extent extent, auto content) {
    all.push_back({path, number, {extent}, there, content});
  };
  add("/texts/names", Number::text, Extent::text_outputs,
      KnownTexts{list_of<&ResultsLayout::text_names>});
  add("/texts/types", Number::text, Extent::text_outputs,
      KnownTexts{list_of<&ResultsLayout::text_types>});
  add("/texts/time", Number::f64, Extent::texts, RowNumbers{nullptr, fill_time});
  add("/texts/variable", Number::text, Extent::texts, ChangeTexts{&RecordedText::variable});
  add("/texts/value", Number::text, Extent::texts, ChangeTexts{&RecordedText::value});
}

void add_subsystems(Datasets& all) {
  const auto add = [&](const char* path, Number number, auto content) {
    all.push_back({path, number, {Extent::subsystems}, always, content});
  };
  add("/subsystems/name", Number::text, KnownTexts{list_of<&ResultsLayout::subsystem_names>});
  add("/subsystems/kind", Number::text, KnownTexts{list_of<&ResultsLayout::subsystem_kinds>});
  add("/subsystems/rank", Number::i32, KnownNumbers{[](const ResultsLayout& layout) {
        return std::vector<double>(layout.subsystem_ranks.begin(), layout.subsystem_ranks.end());
      }});
  add("/subsystems/group", Number::i32, KnownNumbers{[](const ResultsLayout& layout) {
        return std::vector<double>(layout.subsystem_groups.begin(), layout.subsystem_groups.end());
      }});
  add("/subsystems/advances", Number::i64, FinalNumbers{0.0, of_all<&Counters::advances>});
  add("/subsystems/rhs_evaluations", Number::i64,
      FinalNumbers{0.0, of_all<&Counters::rhs_evaluations>});
  add("/subsystems/micro_steps", Number::i64, FinalNumbers{0.0, of_all<&Counters::micro_steps>});
  add("/subsystems/restarts", Number::i64, FinalNumbers{0.0, of_all<&Counters::restarts>});
  add("/subsystems/revived", Number::i64, FinalNumbers{0.0, of_all<&Counters::revived>});
  add("/subsystems/wall_time", Number::f64, FinalNumbers{0.0, of_all<&Counters::wall_time>});
  add("/subsystems/linearize_time", Number::f64,
      FinalNumbers{0.0, of_all<&Counters::linearize_time>});
  add("/subsystems/output_time", Number::f64, FinalNumbers{0.0, of_all<&Counters::output_time>});
  add("/subsystems/rollback_time", Number::f64,
      FinalNumbers{0.0, of_all<&Counters::rollback_time>});
  add("/subsystems/event_time", Number::f64, FinalNumbers{0.0, of_all<&Counters::event_time>});
}

void add_network(Datasets& all) {
  const auto there = [](const ResultsLayout& layout) { return !layout.link_outputs.empty(); };
  const auto add = [&](const char* path, Number number, auto content) {
    all.push_back({path, number, {Extent::links}, there, content});
  };
  add("/network/output", Number::text, KnownTexts{list_of<&ResultsLayout::link_outputs>});
  add("/network/input", Number::text, KnownTexts{list_of<&ResultsLayout::link_inputs>});
  add("/network/loop", Number::i32, KnownNumbers{[](const ResultsLayout& layout) {
        return std::vector<double>(layout.link_loops.begin(), layout.link_loops.end());
      }});
}

template <Phase phase>
std::vector<double> of_phase(const ResultsEnd& end) {
  std::vector<double> result;
  for (const RankCosts& rank : end.costs.ranks)
    result.push_back(rank.phases[static_cast<std::size_t>(phase)]);
  return result;
}

void add_ranks(Datasets& all) {
  const auto add = [&](const char* path, auto of) {
    all.push_back({path, Number::f64, {Extent::ranks}, always, FinalNumbers{0.0, of}});
  };
  add("/ranks/step_time", of_phase<Phase::step>);
  add("/ranks/advance_time", of_phase<Phase::advance>);
  add("/ranks/exchange_time", of_phase<Phase::exchange>);
  add("/ranks/solve_time", of_phase<Phase::solve>);
  add("/ranks/estimate_time", of_phase<Phase::estimate>);
  add("/ranks/record_time", of_phase<Phase::record>);
  add("/ranks/checkpoint_time", of_phase<Phase::checkpoint>);
  add("/ranks/memory", [](const ResultsEnd& end) {
    std::vector<double> result;
    for (const RankCosts& rank : end.costs.ranks) result.push_back(rank.memory);
    return result;
  });
}

void add_provenance(Datasets& all) {
  const auto add_file = [&](const char* path, auto content) {
    all.push_back({path, Number::text, {Extent::files}, always, content});
  };
  add_file("/files/name", KnownTexts{list_of<&ResultsLayout::file_names>});
  add_file("/files/role", KnownTexts{list_of<&ResultsLayout::file_roles>});
  add_file("/files/sha256", KnownTexts{list_of<&ResultsLayout::file_sha256>});
  const auto add_run = [&](const char* path, std::string RunRecord::*text) {
    all.push_back({path, Number::text, {Extent::runs}, always, RunTexts{text}});
  };
  add_run("/runs/started", &RunRecord::started);
  add_run("/runs/host", &RunRecord::host);
  add_run("/runs/ranks", &RunRecord::ranks);
  add_run("/runs/command_line", &RunRecord::command_line);
  add_run("/runs/options", &RunRecord::options);
  add_run("/runs/versions", &RunRecord::versions);
  add_run("/runs/continues", &RunRecord::continues);
}

template <std::uint64_t Lengths::*length>
std::vector<double> of_parts(const ResultsLayout& layout) {
  std::vector<double> result;
  for (const Lengths& lengths : layout.parts.lengths)
    result.push_back(static_cast<double>(lengths.*length));
  return result;
}

std::vector<std::string> names_of_parts(const ResultsLayout& layout) { return layout.parts.names; }

void add_parts(Datasets& all) {
  const auto in_parts = [](const ResultsLayout& layout) { return !layout.parts.empty(); };
  const auto add = [&](const char* path, Number number, auto content) {
    all.push_back({path, number, {Extent::parts}, in_parts, content});
  };
  add("/parts/name", Number::text, KnownTexts{names_of_parts});
  add("/parts/rows", Number::i64, KnownNumbers{of_parts<&Lengths::rows>});
  add("/parts/steps", Number::i64, KnownNumbers{of_parts<&Lengths::steps>});
  add("/parts/events", Number::i64, KnownNumbers{of_parts<&Lengths::events>});
  all.push_back({"/parts/texts",
                 Number::i64,
                 {Extent::parts},
                 [](const ResultsLayout& layout) {
                   return !layout.parts.empty() && !layout.text_names.empty();
                 },
                 KnownNumbers{of_parts<&Lengths::texts>}});
}

Datasets all_datasets() {
  Datasets all;
  all.push_back({"/time", Number::f64, {Extent::rows}, always, RowNumbers{nullptr, fill_time}});
  add_outputs(all);
  add_inputs(all);
  add_states(all);
  add_variables<&ResultsLayout::balance, balance_value>(all, "/balance", Extent::connections);
  add_steps(all);
  add_events(all);
  add_limits(all);
  add_texts(all);
  add_subsystems(all);
  add_network(all);
  add_ranks(all);
  add_provenance(all);
  add_parts(all);
  return all;
}

template <class Value>
AttributeValue value(Value&& it) {
  return AttributeValue(std::forward<Value>(it));
}

AttributeValue no_text(const ResultsLayout& /*layout*/, int /*ranks*/) {
  return value(std::string());
}

const ResultsAttribute attributes[] = {
    {"/", "format_version", [](const ResultsLayout&, int) { return value(results_format_version); },
     nullptr},
    {"/", "concord_version",
     [](const ResultsLayout&, int) { return value(std::string(CONCORD_VERSION)); }, nullptr},
    {"/", "model_name", [](const ResultsLayout& layout, int) { return value(layout.model_name); },
     nullptr},
    {"/", "command_line",
     [](const ResultsLayout& layout, int) { return value(layout.command_line); }, nullptr},
    {"/", "run", [](const ResultsLayout& layout, int) { return value(layout.run); }, nullptr},
    {"/", "replaced_run",
     [](const ResultsLayout& layout, int) { return value(layout.replaced_run); }, nullptr},
    {"/", "changes", [](const ResultsLayout& layout, int) { return value(layout.changes); },
     nullptr},
    {"/", "initial_values",
     [](const ResultsLayout& layout, int) { return value(layout.initial_values); }, nullptr},
    {"/", "petsc_options",
     [](const ResultsLayout& layout, int) { return value(layout.petsc_options); }, nullptr},
    {"/", "model_text", [](const ResultsLayout& layout, int) { return value(layout.model_text); },
     nullptr},
    {"/", "ranks",
     [](const ResultsLayout&, int ranks) { return value(static_cast<std::int32_t>(ranks)); },
     nullptr},
    {"/", "error_estimate", [](const ResultsLayout&, int) { return value(unknown); },
     [](const ResultsEnd& end) { return value(end.quality.worst); }},
    {"/", "error_estimate_of", no_text,
     [](const ResultsEnd& end) { return value(end.quality.worst_output); }},
    {"/", "no_estimate", no_text,
     [](const ResultsEnd& end) { return value(end.quality.no_estimate); }},
    {"/", "estimated_by", no_text,
     [](const ResultsEnd& end) { return value(end.quality.estimated_by); }},
    {"/", "diverged", no_text, [](const ResultsEnd& end) { return value(end.quality.diverged); }},
    {"/", "undecided", no_text, [](const ResultsEnd& end) { return value(end.quality.undecided); }},
    {"/", "accuracy", no_text, [](const ResultsEnd& end) { return value(end.quality.accuracy); }},
    {"/", "driven", no_text, [](const ResultsEnd& end) { return value(end.quality.driven); }},
    {"/", "by_the_clock", no_text,
     [](const ResultsEnd& end) { return value(end.quality.by_the_clock); }},
    {"/", "idle_at_start", no_text,
     [](const ResultsEnd& end) { return value(end.quality.idle_at_start); }},
    {"/", "macro_steps_at_noise", [](const ResultsLayout&, int) { return value(std::int64_t{0}); },
     [](const ResultsEnd& end) { return value(end.quality.at_noise); }},
    {"/", "events", [](const ResultsLayout&, int) { return value(std::int32_t{0}); },
     [](const ResultsEnd& end) { return value(end.quality.events); }},
    {"/", "black_box_jumps", [](const ResultsLayout&, int) { return value(std::int64_t{0}); },
     [](const ResultsEnd& end) { return value(end.quality.black_box_jumps); }},
    {"/", "late_events", [](const ResultsLayout&, int) { return value(std::int64_t{0}); },
     [](const ResultsEnd& end) { return value(end.quality.late_events); }},
    {"/time", "unit", [](const ResultsLayout&, int) { return value(std::string("s")); }, nullptr},
    // Last: it says that all the others are final.
    {"/", "status", [](const ResultsLayout& layout, int) { return value(first_status(layout)); },
     [](const ResultsEnd& end) { return value(std::string(to_string(end.status))); }},
};

const char* name_of(Number number) {
  constexpr std::array names{"str", "f64", "i32", "i64"};
  return names[static_cast<std::size_t>(number)];
}

struct ExtentWords {
  const char* name;   ///< in the types of the page and of `type_text`
  const char* scale;  ///< the dataset that names its entries; "": none
};

/// In the order of Extent.
constexpr std::array extent_words{
    ExtentWords{"T", "/time"},
    ExtentWords{"T-1", "/steps/size"},
    ExtentWords{"n_out", "/outputs/names"},
    ExtentWords{"n_in", "/inputs/names"},
    ExtentWords{"n_st", "/states/names"},
    ExtentWords{"n_c", "/balance/names"},
    ExtentWords{"K", "/subsystems/name"},
    ExtentWords{"P", "/ranks/step_time"},
    ExtentWords{"E", "/events/time"},
    ExtentWords{"4", ""},
    ExtentWords{"F", "/files/name"},
    ExtentWords{"R", "/runs/started"},
    ExtentWords{"Q", "/parts/name"},
    ExtentWords{"L", "/network/output"},
    ExtentWords{"n_text", "/texts/names"},
    ExtentWords{"X", "/texts/time"},
};
static_assert(extent_words.size() == static_cast<std::size_t>(Extent::texts) + 1);

const ExtentWords& words_of(Extent extent) {
  return extent_words[static_cast<std::size_t>(extent)];
}

}  // namespace

const std::vector<ResultsDataset>& results_datasets() {
  static const Datasets all = all_datasets();
  return all;
}

const ResultsDataset& dataset_of(std::string_view path) {
  for (const ResultsDataset& dataset : results_datasets())
    if (dataset.path == path) return dataset;
  throw std::logic_error("no dataset of results files is called '" + std::string(path) + "'");
}

std::string right_limits_of(std::string_view path) { return "/events/right" + std::string(path); }

std::string left_limits_of(std::string_view path) {
  if (are_slopes(path)) return "/events/left" + std::string(path);
  return "/events" + std::string(path.substr(0, path.rfind('/')));
}

bool are_slopes(std::string_view path) { return path.ends_with("/derivatives"); }

std::span<const ResultsAttribute> results_attributes() { return attributes; }

std::size_t size_of(Extent extent, const ResultsLayout& layout) {
  switch (extent) {
    case Extent::outputs:
      return layout.outputs.total;
    case Extent::inputs:
      return layout.inputs.total;
    case Extent::states:
      return layout.states.total;
    case Extent::connections:
      return layout.balance.total;
    case Extent::subsystems:
      return layout.subsystem_names.size();
    case Extent::ranks:
      return layout.ranks;
    case Extent::coefficients:
      return layout.coefficients;
    case Extent::files:
      return layout.file_names.size();
    case Extent::parts:
      return layout.parts.names.size();
    case Extent::links:
      return layout.link_outputs.size();
    case Extent::text_outputs:
      return layout.text_names.size();
    case Extent::rows:
    case Extent::steps:
    case Extent::events:
    case Extent::runs:
    case Extent::texts:
      break;
  }
  throw std::logic_error("how many rows there will be is not in the layout of a results file");
}

std::string scale_of(Extent extent, const ResultsLayout& layout) {
  if (extent == Extent::steps && layout.grid) return "/steps/time";
  return words_of(extent).scale;
}

std::string type_text(const ResultsDataset& dataset) {
  std::string text = name_of(dataset.number);
  for (std::size_t i = 0; i < dataset.extents.size(); ++i)
    text += (i == 0 ? "[" : ", ") + std::string(words_of(dataset.extents[i]).name);
  return text + "]";
}

std::string type_text(const ResultsAttribute& attribute) {
  constexpr Number numbers[] = {Number::text, Number::i32, Number::i64, Number::f64};
  return name_of(numbers[attribute.begin({}, 0).index()]);
}

std::string first_status(const ResultsLayout& layout) {
  return layout.is_part ? "part" : std::string(to_string(RunStatus::running));
}

std::string_view to_string(RunStatus status) {
  switch (status) {
    case RunStatus::running:
      return "running";
    case RunStatus::completed:
      return "completed";
    case RunStatus::interrupted:
      return "interrupted";
    case RunStatus::inaccurate:
      return "inaccurate";
    case RunStatus::diverged:
      return "diverged";
    case RunStatus::failed:
      break;
  }
  return "failed";
}

}  // namespace concord
