#include "simulation/initial_values.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "coupling/points/start.hpp"
#include "network/start_problem.hpp"
#include "settings/settings.hpp"
#include "simulation/point_solve.hpp"
#include "simulation/undetermined.hpp"
#include "support/agreement.hpp"
#include "support/factorizations.hpp"
#include "support/options.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Indices = std::vector<Eigen::Index>;
using Vector = Eigen::VectorXd;

/// Whole, and whatever the run withholds.
SettingsList for_equations(SettingsList settings) {
  for (SubsystemSettings& each : settings) {
    each.slow = {};
    each.rollback = each.linearization = each.state_derivatives = true;
  }
  return settings;
}

/// The whole network on this rank, at the start.
class StartedNetwork {
 public:
  StartedNetwork(const Model& model, const Settings& settings)
      : network_(model),
        whole_(Partition::on_one_rank(network_)),
        subsystems_(MPI_COMM_SELF, model, network_, whole_, for_equations(settings.subsystems)) {
    start(model, settings);
    require_equations();
    std::vector<double> states;
    for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
      const auto own = subsystems_.own(k).states();
      states.insert(states.end(), own.begin(), own.end());
    }
    point_.emplace(subsystems_, communication_.inputs, states, settings.start,
                   settings.stop - settings.start);
  }

  NetworkAtPoint& point() { return *point_; }
  const Network& network() const { return network_; }

 private:
  void start(const Model& model, const Settings& settings) {
    const auto next = std::ranges::upper_bound(model.events, settings.start);
    subsystems_.enter(
        {settings.start, next == model.events.end() ? SmoothInterval().until : *next});
    const MacroStep first{settings.start, settings.start + settings.step, settings.step};
    start_subsystems(subsystems_, first, settings.stop);
    communication_.time = settings.start;
    communication_.inputs = subsystems_.start_inputs();
    communication_.outputs.resize(subsystems_.n_outputs());
    ConsistentInputs consistent(subsystems_);
    end_initialization(subsystems_, consistent, first, communication_);
  }

  void require_equations() {
    for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
      const SubsystemDescription& d = subsystems_.own(k).description();
      if (d.constraint || subsystems_.own(k).equations() != nullptr) continue;
      const std::string what =
          d.stands_for.empty() ? "subsystem '" + d.name + "' (" + d.kind + ")" : d.stands_for;
      throw InputError(
          "initial equations are solved over the whole network, of which " + what +
          " gives no equations; give start values instead, or an FMU for model exchange");
    }
  }

  Network network_;
  Partition whole_;
  RankNetwork subsystems_;
  CommunicationPoint communication_;
  std::optional<NetworkAtPoint> point_;
};

/// The problem in the network's numbers.
class InitialSystem {
 public:
  /// What is free begins at its given value.
  InitialSystem(const StartProblem& problem, StartedNetwork& started)
      : problem_(problem), network_(started.network()) {
    std::vector<std::size_t> states;
    std::vector<FreeValue> free;
    for (const FreeStart& each : problem.free) {
      if (each.what.kind == StartQuantity::Kind::state)
        states.push_back(place_of(each.what));
      else
        free.push_back({each.what.name, settable(each.what), each.what.given});
    }
    for (const FreeValue& each : free) free_.emplace(each.name, free_.size());
    std::vector<PointEquation> equations;
    for (const StartEquation& each : problem.equations) equations.push_back(in_network(each));
    system_.emplace(started.point(), std::move(states), std::move(free), std::move(equations));
  }

  PointSystem& system() { return *system_; }

  /// "'der(a.x) = 0' at model.yaml:5, ..."
  std::string equations(const Indices& which) const {
    std::vector<std::string> result;
    for (const Eigen::Index i : which) result.push_back(system_->equation(i));
    return cut(result);
  }
  std::string unknowns(const Indices& which) const {
    std::vector<std::string> result;
    for (const Eigen::Index i : which) {
      const std::string name = system_->unknown(i);
      const auto found = std::ranges::find_if(
          problem_.free, [&](const FreeStart& each) { return each.what.name == name; });
      result.push_back(name + " (free at " + found->location + ")");
    }
    return cut(result);
  }
  const Location& location() const { return problem_.equations.front().location; }

  std::vector<std::pair<std::string, double>> first_values(const Vector& z, std::size_t most) {
    const std::vector<double> all = values(z);
    std::vector<std::pair<std::string, double>> result;
    for (std::size_t i = 0; i < std::min(most, all.size()); ++i)
      result.emplace_back(problem_.free[i].what.name, all[i]);
    return result;
  }

  /// What was found for what is free, in the order of the problem.
  std::vector<double> values(const Vector& z) {
    system_->move_to(z);
    std::map<std::string, double> others;
    for (const auto& [name, value] : system_->freed(z)) others.emplace(name, value);
    std::vector<double> result;
    for (const FreeStart& each : problem_.free)
      result.push_back(each.what.kind == StartQuantity::Kind::state
                           ? point_state(place_of(each.what))
                           : others.at(each.what.name));
    return result;
  }

 private:
  static std::string cut(std::vector<std::string> texts) {
    constexpr std::size_t most = 6;
    const std::size_t count = texts.size();
    if (count <= most) return joined(texts);
    texts.resize(most);
    return joined(texts) + " and " + std::to_string(count - most) + " more";
  }

  double point_state(std::size_t state) const { return system_->state(state); }

  std::size_t place_of(const StartQuantity& what) const {
    switch (what.kind) {
      case StartQuantity::Kind::output:
        return network_.outputs_of(what.subsystem).first + what.index;
      case StartQuantity::Kind::input:
        return network_.inputs_of(what.subsystem).first + what.index;
      default:
        return network_.states_of(what.subsystem).first + what.index;
    }
  }

  Settable settable(const StartQuantity& what) const {
    return what.kind == StartQuantity::Kind::input
               ? Settable(Settable::Kind::input, what.subsystem, place_of(what))
               : Settable(Settable::Kind::parameter, what.subsystem, what.index);
  }

  PointQuantity in_network(const StartQuantity& what) const {
    using Kind = PointQuantity::Kind;
    switch (what.kind) {
      case StartQuantity::Kind::state:
        return {Kind::state, place_of(what)};
      case StartQuantity::Kind::rate:
        return {Kind::rate, place_of(what)};
      case StartQuantity::Kind::output:
        return {Kind::output, place_of(what)};
      case StartQuantity::Kind::input:
        return {Kind::input, place_of(what)};
      case StartQuantity::Kind::parameter:
        break;
    }
    const auto free = free_.find(what.name);
    return free == free_.end() ? PointQuantity{Kind::parameter, 0, what.given}
                               : PointQuantity{Kind::free, free->second};
  }

  PointEquation in_network(const StartEquation& equation) const {
    PointEquation result{
        in_quotes(equation.text) + " at " + equation.location, {}, equation.missed};
    for (const StartQuantity& each : equation.quantities)
      result.quantities.push_back(in_network(each));
    return result;
  }

  const StartProblem& problem_;
  const Network& network_;
  std::map<std::string, std::size_t> free_;  ///< that are no states
  std::optional<PointSystem> system_;
};

/// Entries at the start and at a second point, where nothing that was equal is, as what is zero at
/// the start may be so by chance.
Eigen::MatrixXd structure(PointSystem& system) {
  constexpr double aside = 0.37;
  std::vector<Happening> waiting;
  system.settle(system.start(), waiting);
  Eigen::MatrixXd result = system.jacobian(system.start()).cwiseAbs();
  try {
    const Vector there = system.start() + Vector::LinSpaced(system.size(), aside, 2.0 * aside);
    system.settle(there, waiting);
    result += system.jacobian(there).cwiseAbs();
  } catch (const RecoverableFailure&) {
    // Beyond what the model is defined for: the start alone tells.
  }
  system.settle(system.start(), waiting);
  return result;
}

std::string counted(std::size_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

void refuse_structure(InitialSystem& initial) {
  const auto wrong = structurally_undetermined(structure(initial.system()));
  if (!wrong) return;
  const auto& [many_equations, few_unknowns, few_equations, many_unknowns] = *wrong;
  const std::string too_many =
      few_unknowns.empty()
          ? "nothing that is free moves " + initial.equations(many_equations)
          : counted(many_equations.size(), "equation") + " (" + initial.equations(many_equations) +
                ") depend on " + counted(few_unknowns.size(), "unknown") + " only, " +
                initial.unknowns(few_unknowns);
  const std::string too_few = few_equations.empty()
                                  ? "no equation depends on " + initial.unknowns(many_unknowns)
                                  : counted(many_unknowns.size(), "unknown") + " (" +
                                        initial.unknowns(many_unknowns) + ") are in " +
                                        counted(few_equations.size(), "equation") + " only, " +
                                        initial.equations(few_equations);
  throw InputError(initial.location() + ": initial equations do not determine the start: " +
                   too_many + "; " + too_few + "; free something that these equations depend on");
}

std::string dependence(InitialSystem& initial, const Dependent& which) {
  return "there " + initial.equations(which.rows) + " " +
         (which.rows.size() == 1 ? "depends on nothing that is free" : "depend on each other") +
         ", and " + initial.unknowns(which.columns) + " may " +
         (which.columns.size() == 1 ? "" : "together ") + "be changed without changing any";
}

/// "'a.y = 3' at model.yaml:7 is missed by 0.1, ...": the largest ones, and where that is.
std::string left_over(InitialSystem& initial, const Vector& z) {
  constexpr std::size_t most = 3;
  PointSystem& system = initial.system();
  const Vector left = system.residual(z);
  std::string missed, values;
  for (std::size_t i = 0; const Eigen::Index each : by_size(left)) {
    if (i++ == most) break;
    missed += (i == 1 ? "" : ", ") + system.equation(each) + " is missed by " +
              short_number(left[each] * system.scales()[each]);
  }
  for (const auto& [name, value] : initial.first_values(z, most))
    values += (values.empty() ? "" : ", ") + name + " = " + short_number(value);
  return missed + ", at " + values;
}

[[noreturn]] void not_found(InitialSystem& initial, const PointSearch& search) {
  std::optional<Dependent> which;
  try {
    which = dependent(initial.system().jacobian(search.z));
  } catch (const RecoverableFailure&) {
  }
  throw SimulationError(initial.location() +
                        ": no start was found that satisfies the initial equations, neither by "
                        "Newton's method, in pseudo-time nor by continuation: " +
                        left_over(initial, search.z) +
                        (which ? "; " + dependence(initial, *which) : "") +
                        "; give what is free start values closer to it, or free something else");
}

/// After one more step, to the last digits; what is rounding beside its size is 0.
Vector sharpened(PointSystem& system, const Vector& z, const Eigen::MatrixXd& jacobian) {
  constexpr double rounding = 1e-14;
  const Vector left = system.residual(z);
  Vector better = z - DenseFactors(jacobian).solve(left);
  better = (better.array().abs() < rounding).select(0.0, better);
  try {
    return largest(system.residual(better)) <= largest(left) ? better : z;
  } catch (const RecoverableFailure&) {
    return z;
  }
}

/// One that satisfies the equations and is the only one near it.
Vector solution(InitialSystem& initial) {
  PointSearch search{initial.system().start()};
  switch (search.search(initial.system())) {
    case PointOutcome::found:
      break;
    case PointOutcome::nothing_found:
      not_found(initial, search);
    case PointOutcome::relations_chatter:
      throw SimulationError(initial.location() +
                            ": initial equations: relations change their truth from one attempt "
                            "to the next; the model may chatter at the start");
    case PointOutcome::recedes:
      throw SimulationError(initial.location() +
                            ": no start was found that satisfies the initial equations: what they "
                            "miss falls off without an end, and '" +
                            initial.system().unknown(search.receding) +
                            "' goes on and on; give what is free start values on another side, or "
                            "free something else");
    case PointOutcome::homotopy_ends:
      throw SimulationError(initial.location() +
                            ": no start was found that satisfies the initial equations: " +
                            homotopy_ends(search.part));
  }
  const Eigen::MatrixXd jacobian = initial.system().jacobian(search.z);
  if (const auto which = dependent(jacobian))
    throw InputError(initial.location() + ": initial equations do not determine the start: " +
                     dependence(initial, *which) +
                     "; leave one of these out, so that what it frees keeps its start value, or "
                     "give another in its place");
  return sharpened(initial.system(), search.z, jacobian);
}

/// Values of what is free, and what equations are divided by.
struct Solved {
  std::vector<double> values;
  Vector scales;
};

Solved solved(const StartProblem& problem, const Model& model, const Settings& settings) {
  StartedNetwork started(model, settings);
  InitialSystem initial(problem, started);
  refuse_structure(initial);
  return {initial.values(solution(initial)), initial.system().scales()};
}

void begin_with_values(Model& model, const StartProblem& problem,
                       const std::vector<double>& values) {
  std::map<std::size_t, StartValues> parts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const StartQuantity& what = problem.free[i].what;
    StartValues& part = parts[what.subsystem];
    auto& list = what.kind == StartQuantity::Kind::state   ? part.states
                 : what.kind == StartQuantity::Kind::input ? part.inputs
                                                           : part.parameters;
    list.emplace_back(what.index, values[i]);
  }
  for (const auto& [subsystem, part] : parts) begin_with(model.subsystems[subsystem], part);
}

/// What is left of the equations in the model as it begins now. Relations as they settle there.
double residual_in(const Model& model, const StartProblem& found, const Vector& scales,
                   const Settings& settings) {
  StartedNetwork started(model, settings);
  InitialSystem initial(found, started);
  PointSystem& system = initial.system();
  std::vector<Happening> waiting;
  for (int round = 0; round < 100 && system.settle(system.start(), waiting); ++round) {
  }
  const Vector missed = system.residual(system.start()).cwiseProduct(system.scales());
  const Vector left = missed.cwiseQuotient(scales);
  constexpr double kept = 1e-6;
  if (const Eigen::Index worst = by_size(left).front(); !(largest(left) <= kept))
    throw SimulationError(
        initial.location() + ": " + system.equation(worst) + " is missed by " +
        short_number(missed[worst]) +
        " where the model begins with what satisfies it: a subsystem does not begin with the start "
        "values that it is given");
  return largest(left);
}

std::shared_ptr<const FoundStart> found_in(Model& model, const Settings& settings) try {
  StartProblem problem = *model.start_problem;
  const auto [values, scales] = solved(problem, model, settings);
  begin_with_values(model, problem, values);
  auto result = std::make_shared<FoundStart>();
  result->equations = problem.equations.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    problem.free[i].what.given = values[i];
    result->values.emplace_back(problem.free[i].what.name, values[i]);
  }
  result->residual = residual_in(model, problem, scales, settings);
  return result;
} catch (const RecoverableFailure& failure) {
  throw SimulationError(model.start_problem->equations.front().location +
                        ": initial equations cannot be solved, as derivatives have no values at "
                        "the start values: " +
                        failure.what() + "; give what is free other start values");
}

/// The run is not the first of its kind: states are those of a checkpoint.
bool goes_on(const Settings& settings, MPI_Comm comm) {
  const std::string& restart = settings.checkpoint.restart;
  std::error_code error;
  const bool there =
      rank_in(comm) == 0 && !restart.empty() && std::filesystem::exists(restart, error);
  return agree_on_largest(comm, there ? 1 : 0) != 0;
}

}  // namespace

void find_initial_values(Model& model, MPI_Comm comm) {
  if (!model.start_problem || model.found_start) return;
  const Settings settings = read_settings(model);
  if (goes_on(settings, comm)) return;
  if (!settings.checkpoint.start_from.empty()) {
    model.notes.push_back(
        "the initial equations are not solved, as the run begins with the states of a checkpoint");
    return;
  }
  together(comm, [&] { model.found_start = found_in(model, settings); });
}

}  // namespace concord
