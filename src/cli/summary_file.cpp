#include "cli/summary_file.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/json_number.hpp"
#include "files/text_output.hpp"
#include "network/start_problem.hpp"
#include "support/options.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

using Json = nlohmann::ordered_json;

Json steps_of(const RunSummary& summary) {
  Json rejected;
  for (std::size_t r = 0; r < rejection_words.size(); ++r) {
    rejected[rejection_words[r]] = summary.rejected_for[r];
  }
  return {{"accepted", summary.steps},       {"rejected", summary.rejections},
          {"rejected_for", rejected},        {"smallest", summary.smallest_step},
          {"largest", summary.largest_step}, {"at_noise", summary.at_noise}};
}

Json realtime_of(const Lateness& lateness) {
  return {{"macro_steps", lateness.steps},
          {"late", lateness.total()},
          {"latest", lateness.most},
          {"limits", lateness.limits},
          {"late_by_limit", lateness.late},
          {"ended_early", lateness.ended_early},
          {"left_out", lateness.left_out},
          {"passed_within",
           {{"0.5", lateness.within(0.5)},
            {"0.99", lateness.within(0.99)},
            {"0.9999", lateness.within(0.9999)}}}};
}

Json options_of(const SimulationPlan& plan) {
  Json options = Json::object();
  for (const auto& [name, value] : options::named(plan.options)) {
    options[name] = value;
  }
  return options;
}

Json quality_of(const Conclusion& conclusion) {
  Json errors = Json::object();
  for (const auto& [name, error] : conclusion.errors) {
    errors[name] = json_number(error);
  }
  const RunQuality& quality = conclusion.quality;
  return {{"worst_error", json_number(quality.worst)},
          {"worst_output", quality.worst_output},
          {"worst_error_of_range", quality.of_range ? json_number(*quality.of_range) : Json()},
          {"worst_errors", errors},
          {"no_estimate", quality.no_estimate},
          {"estimated_by", quality.estimated_by},
          {"diverged", quality.diverged},
          {"undecided", quality.undecided},
          {"accuracy", quality.accuracy},
          {"events", quality.events},
          {"late_events", quality.late_events},
          {"black_box_jumps", quality.black_box_jumps},
          {"idle_at_start", quality.idle_at_start},
          {"driven", quality.driven}};
}

Json ranks_of(const RunCosts& costs) {
  Json ranks = Json::array();
  for (const RankCosts& rank : costs.ranks) {
    Json one;
    for (std::size_t p = 0; p < n_phases; ++p) {
      one[std::string(phase_words[p]) + "_time"] = rank.phases[p];
    }
    one["memory"] = rank.memory;
    ranks.push_back(std::move(one));
  }
  return ranks;
}

Json subsystems_of(const SimulationPlan& plan, const RunCosts& costs) {
  Json subsystems = Json::array();
  const std::vector<WrittenPart> parts = written_parts(plan.model, plan.network);
  for (std::size_t k = 0; k < costs.subsystems.size(); ++k) {
    const SubsystemDescription& description = parts[k].entry->description;
    const Counters& counters = costs.subsystems[k];
    subsystems.push_back({{"name", description.name},
                          {"kind", description.kind},
                          {"rank", plan.share.rank_of(parts[k].subsystem)},
                          {"group", parts[k].group},
                          {"advances", counters.advances},
                          {"rhs_evaluations", counters.rhs_evaluations},
                          {"micro_steps", counters.micro_steps},
                          {"restarts", counters.restarts},
                          {"advance_time", counters.wall_time},
                          {"linearize_time", counters.linearize_time},
                          {"output_time", counters.output_time},
                          {"rollback_time", counters.rollback_time},
                          {"event_time", counters.event_time}});
  }
  return subsystems;
}

Json initial_of(const FoundStart& found) {
  Json values = Json::object();
  for (const auto& [name, value] : found.values) values[name] = value;
  return {{"equations", found.equations}, {"residual", found.residual}, {"values", values}};
}

}  // namespace

void write_summary_file(const std::string& path, const RunEnd& end) {
  const SimulationPlan& plan = end.simulation.plan();
  Json json = {{"concord_version", CONCORD_VERSION},
               {"model", plan.model.name},
               {"status", end.status},
               {"reason", end.reason},
               {"time", end.simulation.time()},
               {"stop", plan.settings.stop},
               {"wall_time", end.wall_time},
               {"method", plan.settings.method.type},
               {"options", options_of(plan)},
               {"steps", steps_of(end.summary)},
               {"iterations", end.summary.iterations},
               {"linear_iterations", end.summary.linear_iterations},
               {"coupling_evaluations", end.summary.evaluations},
               {"results", plan.settings.record.path}};
  if (plan.settings.method.solve.at_nodes) json["nodes"] = end.summary.nodes;
  json["quality"] = quality_of(end.conclusion);
  if (plan.model.found_start) {
    json["initial"] = initial_of(*plan.model.found_start);
  }
  if (end.summary.lateness.steps > 0) {
    json["realtime"] = realtime_of(end.summary.lateness);
  }
  json["load_balance"] = load_balance(end.costs.ranks);
  json["ranks"] = ranks_of(end.costs);
  json["subsystems"] = subsystems_of(plan, end.costs);
  TextOutput output(path);
  output.write(json.dump(2) + "\n");
  output.close();
}

}  // namespace concord
