#include "simulation/own_paces.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <unordered_set>

#include "coupling/problem/row_major.hpp"
#include "nested/nesting.hpp"
#include "network/start_problem.hpp"
#include "settings/settings.hpp"
#include "simulation/pace_groups.hpp"
#include "simulation/simulation_core.hpp"
#include "subsystem/code_of_others.hpp"
#include "support/agreement.hpp"
#include "support/messages.hpp"
#include "support/options.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// What stands in the way of groups at all; empty: nothing.
std::string obstacle(const Settings& settings, const Model& model) {
  const auto outside = [](const SubsystemEntry& entry) { return is_outside(entry.description); };
  return settings.method.solve.as_one ? "monolithic integrates all subsystems as one"
         : settings.method.schedule.half_steps_apart
             ? "-cosim_schedule staggered_grid has two groups of its own"
         : !model.groups.empty() || !model.signal_weights.empty()
             ? "schedules are of all subsystems (schedule:, -cosim_schedule_signals)"
         : settings.record.polynomials || settings.record.balance
             ? "-cosim_record polynomials and balance are of all inputs"
         : std::ranges::any_of(model.subsystems, outside)
             ? "processes outside (remote:) are started once"
         : !settings.checkpoint.start_from.empty()
             ? "-cosim_restart_as_start begins with subsystems as they were"
             : "";
}

/// Subsystems that a constraint reads or moves.
std::vector<char> constrained(const Network& network) {
  std::vector<char> result(network.n_subsystems(), 0);
  for (std::size_t i = 0; i < network.n_inputs(); ++i) {
    if (!network.links()[i]) continue;
    const std::size_t from = network.subsystem_of_output(network.links()[i]->output),
                      to = network.subsystem_of_input(i);
    if (network.constraint(from)) result[to] = 1;
    if (network.constraint(to)) result[from] = 1;
  }
  return result;
}

/// A group's memory holds what is set in it, not what its members were made with.
bool has_found_parameters(const Model& model, std::size_t subsystem) {
  if (!model.start_problem) return false;
  return std::ranges::any_of(model.start_problem->free, [&](const FreeStart& free) {
    return free.what.kind == StartQuantity::Kind::parameter && free.what.subsystem == subsystem;
  });
}

std::string why_not(const SubsystemEntry& entry, bool constrained, bool found_parameters) {
  const std::string reason = why_not_within(entry);
  return !reason.empty()    ? reason
         : constrained      ? "takes part in a constraint"
         : found_parameters ? "has a parameter that initial equations decide on"
         : !options::given("subsystem_" + entry.description.name + "_").empty()
             ? "has options of its own (-subsystem_" + entry.description.name + "_...)"
             : "";
}

/// Of which matrices may be dense, and what stands for no constraint and no delay.
bool can_be_known(const SubsystemDescription& d) {
  constexpr std::size_t most_entries = 1000000;
  const std::size_t rows = d.states.size() + d.outputs.size(),
                    columns = d.states.size() + d.inputs.size();
  return d.stands_for.empty() && !d.constraint && d.capabilities.linearization &&
         d.capabilities.states && rows * columns <= most_entries;
}

/// Own subsystem k where it stands, its number before it; nothing where it cannot tell.
void append(RankNetwork& subsystems, std::size_t k, std::span<const Sample> inputs,
            std::vector<double>& to) {
  if (!can_be_known(subsystems.own(k).description())) return;
  const IndexRange own = subsystems.inputs_of(k);
  Linearization linear;
  Outcome outcome = Outcome::ok;
  subsystems.at_point(k, [&] {
    outcome = subsystems.own(k).linearize(inputs.subspan(own.first, own.size()), linear);
  });
  if (outcome == Outcome::failed) return;
  to.push_back(static_cast<double>(subsystems.global(k)));
  for (const auto* block : {&linear.f_x, &linear.f_u, &linear.g_x, &linear.g_u})
    to.insert(to.end(), block->begin(), block->end());
}

void take(const std::vector<double>& told, const Network& network, std::vector<LinearPart>& parts) {
  for (std::size_t at = 0; at < told.size();) {
    const auto k = static_cast<std::size_t>(told[at++]);
    const auto x = static_cast<Eigen::Index>(network.states_of(k).size()),
               u = static_cast<Eigen::Index>(network.inputs_of(k).size()),
               y = static_cast<Eigen::Index>(network.outputs_of(k).size());
    const auto next = [&](Eigen::Index rows, Eigen::Index columns) {
      const Eigen::Map<const RowMajor> block(told.data() + at, rows, columns);
      at += static_cast<std::size_t>(rows * columns);
      return Eigen::MatrixXd(block);
    };
    LinearPart& part = parts[k];
    part.a = next(x, x);
    part.b = next(x, u);
    part.c = next(y, x);
    part.d = next(y, u);
    part.known =
        part.a.allFinite() && part.b.allFinite() && part.c.allFinite() && part.d.allFinite();
  }
}

/// On the first rank, all subsystems' where the simulation stands. Collective.
std::vector<LinearPart> linear_parts(SimulationCore& simulation) {
  RankNetwork& subsystems = simulation.subsystems();
  const MPI_Comm comm = simulation.plan().comm;
  const auto& inputs = simulation.stepper().point().inputs;
  std::vector<double> own;
  for (const std::size_t k : subsystems.all()) append(subsystems, k, inputs, own);
  if (rank_in(comm) != 0) {
    send_bytes(comm, bytes_of(own), 0);
    return {};
  }
  std::vector<LinearPart> parts(simulation.plan().network.n_subsystems());
  take(own, simulation.plan().network, parts);
  for (int rank = 1; rank < ranks_of(comm); ++rank)
    take(items_in<double>(received_bytes(comm, rank)), simulation.plan().network, parts);
  return parts;
}

Paces found_by(const SimulationPlan& plan, std::vector<LinearPart> parts) {
  const Model& model = plan.model;
  PaceProblem problem;
  problem.parts = std::move(parts);
  problem.time = plan.settings.stop - plan.settings.start;
  problem.accuracy = plan.settings.accuracy;
  const std::vector<char> tied = constrained(plan.network);
  for (std::size_t k = 0; k < model.subsystems.size(); ++k) {
    const SubsystemEntry& entry = model.subsystems[k];
    problem.why_not.push_back(why_not(entry, tied[k] != 0, has_found_parameters(model, k)));
    problem.effort.push_back(entry.effort > 0.0
                                 ? entry.effort
                                 : static_cast<double>(1 + entry.description.states.size()));
  }
  return find_pace_groups(model, plan.network, problem);
}

/// The first rank's.
void share(MPI_Comm comm, Paces& paces) {
  Archive archive;
  Bytes bytes;
  if (rank_in(comm) == 0) {
    CONCORD_MEMBERS(archive, paces);
    bytes = archive.bytes();
  }
  share_bytes(comm, bytes);
  Archive read(std::move(bytes));
  paces.io(read);
}

bool is_asked_for() { return options::text("cosim_paces") == word(OwnPaces::automatic); }

void make_groups(Model& model, Paces paces) {
  nest_groups(model, paces.groups);
  model.paces = std::move(paces);
}

/// What goes wrong here goes wrong in the run, where it is told.
Paces looked_for(const Model& model, MPI_Comm comm) {
  Paces paces;
  try {
    Model trial = model;
    trial.paces.emplace();
    trial.stiff = false;
    SimulationCore core(std::make_unique<SimulationPlan>(comm, std::move(trial)));
    core.start();
    std::vector<LinearPart> parts = linear_parts(core);
    together(comm, [&] {
      if (rank_in(comm) == 0) paces = found_by(core.plan(), std::move(parts));
    });
    share(comm, paces);
  } catch (const std::exception& error) {
    paces = {};
    paces.why = std::string("a start on trial has failed: ") + error.what();
  }
  return paces;
}

}  // namespace

void find_paces(Model& model, MPI_Comm comm) {
  Paces paces;
  if (is_asked_for()) {
    paces.why = obstacle(read_settings_for_check(model), model);
    if (paces.why.empty()) paces = looked_for(model, comm);
  }
  make_groups(model, std::move(paces));
}

void take_paces(Model& model, Paces paces) {
  std::unordered_set<std::string> able;
  for (const SubsystemEntry& entry : model.subsystems)
    if (why_not_within(entry).empty()) able.insert(entry.description.name);
  const auto fits = [&](const PaceGroup& group) {
    return std::ranges::all_of(group.members,
                               [&](const std::string& name) { return able.contains(name); });
  };
  if (is_asked_for() && std::ranges::all_of(paces.groups, fits))
    make_groups(model, std::move(paces));
}

std::string rate_in_words(double rate) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", rate);
  return text;
}

std::string rates_in_words(const PaceGroup& group) {
  return rate_in_words(group.slowest) +
         (group.fastest > group.slowest ? " to " + rate_in_words(group.fastest) : "") + " 1/s";
}

std::string described(const Paces& paces) {
  constexpr std::size_t few = 8;
  if (paces.groups.empty()) return "one: " + paces.why;
  std::string text;
  for (const PaceGroup& group : paces.groups) {
    const std::span<const std::string> members(group.members);
    text += (text.empty() ? "" : "; ") + joined(members.first(std::min(few, members.size()))) +
            (members.size() > few ? ", ..." : "") + " (" + rates_in_words(group) + ")";
  }
  text += " by themselves; the rest follows " + rate_in_words(paces.rest) + " 1/s: up to " +
          std::to_string(std::lround(100.0 * paces.saved)) + " % fewer right-hand sides";
  for (const std::string& one : paces.left_out) text += "; left out: " + one;
  return text;
}

}  // namespace concord
