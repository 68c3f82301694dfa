#include "coupling/collocation/collocation_coupling.hpp"

#include <algorithm>
#include <utility>

#include "concord/errors.hpp"
#include "coupling/points/start.hpp"
#include "support/agreement.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using End = CollocationSweeps::End;

/// Of corrections, from one iterative linear solve to the next sweep.
constexpr double solver_rtol = 1e-6;

constexpr const char* prefix(NodeFamily family) {
  return family == NodeFamily::gauss ? "gauss_" : "radau_";
}

constexpr SolverOptions solver_options(NodeFamily family) { return {prefix(family), solver_rtol}; }

/// Behind the begin of the macro-step.
std::vector<double> shares_of_way(const CollocationNodes& nodes) {
  const Eigen::VectorXd shares = nodes.with_ends();
  return {shares.begin() + 1, shares.end()};
}

}  // namespace

CollocationCoupling::CollocationCoupling(const Method& method, NodeFamily family,
                                         RankNetwork& subsystems)
    : method_(method),
      subsystems_(subsystems),
      family_(family),
      consistent_(subsystems),
      guess_(subsystems),
      sweeps_(subsystems.deadline(), method.tolerance.relative, method.max_it),
      error_(subsystems, method) {
  const int count = method.nodes.value_or(Method::usual_nodes);
  // Events are looked for along inputs of degree 5 at most, and near to where these are known.
  if (method.chooses_nodes() && !subsystems.network().has_events()) choice_.emplace(family, count);
  take_nodes(count);
}

CollocationCoupling::AtNodes::AtNodes(const RankNetwork& subsystems, NodeFamily family, int count)
    : nodes(family, count),
      curves(nodes),
      rows(subsystems, nodes),
      shares(shares_of_way(nodes)),
      values(shares.size() + 1),
      ways(shares.size() * subsystems.n_states()) {}

std::unique_ptr<NodeSystem> CollocationCoupling::system_of(int count) {
  return std::make_unique<NodeSystem>(subsystems_, CollocationNodes(family_, count),
                                      solver_options(family_));
}

/// One more or less leaves one of the two systems.
void CollocationCoupling::take_nodes(int count) {
  if (finer_ && nodes_->nodes.count() + 1 == count) {
    system_ = std::move(finer_);
    system_->forget();
    finer_ = system_of(count + 1);
  } else if (system_ && nodes_->nodes.count() - 1 == count) {
    finer_ = std::move(system_);
    finer_->forget();
    system_ = system_of(count);
  } else {
    system_ = system_of(count);
    finer_ = system_of(count + 1);
  }
  nodes_.emplace(subsystems_, family_, count);
  error_.take_nodes(nodes_->nodes, *finer_);
  sweeps_.restart();
}

void CollocationCoupling::start(const MacroStep& first, double stop, CommunicationPoint& point) {
  start_consistently(subsystems_, consistent_, Wanted::values_and_derivatives, first, stop, point);
  error_.restart(point);
}

/// FMUs want to know where they have come to for good.
bool CollocationCoupling::complete_steps(const CommunicationPoint& point) {
  std::vector<double> u;
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange in = subsystems_.inputs_of(k);
    u.resize(in.size());
    std::ranges::transform(std::span(point.inputs).subspan(in.first, in.size()), u.begin(),
                           &Sample::value);
    subsystems_.at_point(k, [&] {
      Subsystem& subsystem = subsystems_.own(k);
      if (!subsystem.complete_step(point.time, subsystem.states(), u)) {
        unhandled_ = "subsystem '" + subsystems_.name(k) +
                     "' has an event, which gauss and radau cannot handle; choose another "
                     "-cosim_type";
      }
    });
  }
  return agree_on_largest(subsystems_.comm(), unhandled_ ? 1 : 0) == 0;
}

End CollocationCoupling::sweep_from_guess(const MacroStep& step, const CommunicationPoint& point,
                                          NodeSystem::Derivatives derivatives,
                                          CouplingReport& report) {
  system_->begin(step, point);
  guess_.put_into(*system_, step, point);
  const End end = sweeps_.run(*system_, derivatives);
  report.iterations += sweeps_.count();
  report.linear_iterations = static_cast<std::int32_t>(system_->linear_iterations());
  return end;
}

/// What kept derivatives or continued polynomials have not led to may be found without them.
End CollocationCoupling::sweep(const MacroStep& step, const CommunicationPoint& point,
                               CouplingReport& report) {
  using Derivatives = NodeSystem::Derivatives;
  const Derivatives first = error_.due() ? Derivatives::fresh : Derivatives::kept;
  const End end = sweep_from_guess(step, point, first, report);
  if (end != End::failed && end != End::slow) return end;
  sweeps_.restart();
  guess_.forget();
  return sweep_from_guess(step, point, Derivatives::fresh, report);
}

void CollocationCoupling::set_curves(const MacroStep& step, const CommunicationPoint& point,
                                     Trial& trial) {
  const auto& connected = subsystems_.connected_inputs();
  auto& values = nodes_->values;
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    values.front() = point.inputs[i].value;
    for (std::size_t v = 1; v + 1 < values.size(); ++v) values[v] = system_->input(j, v - 1);
    values.back() = trial.inputs[i].value;
    trial.polynomials[i] = nodes_->curves.polynomial(values, step.size());
  }
}

std::vector<IntegratedWay> CollocationCoupling::ways() {
  std::vector<IntegratedWay> result;
  const NodeSystem& system = *system_;
  const std::vector<double>& shares = nodes_->shares;
  const Eigen::VectorXd ends = system.end_states();
  std::span<double> rest = nodes_->ways;
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange states = subsystems_.states_of(k);
    const auto way = rest.first(shares.size() * states.size());
    rest = rest.subspan(way.size());
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const bool node = i + 1 < shares.size();
      const double* const from =
          node ? system.states().col(static_cast<Eigen::Index>(i)).data() : ends.data();
      std::copy_n(from + states.first, states.size(), way.data() + i * states.size());
    }
    result.push_back({shares, way, error_.of_states(k)});
  }
  return result;
}

/// Those of the best polynomials that are known, until the subsystems stand there.
void CollocationCoupling::guess_end_inputs(const CommunicationPoint& point, Trial& trial) const {
  const NodeSystem& best = error_.looked() ? *finer_ : *system_;
  const auto& connected = subsystems_.connected_inputs();
  trial.inputs = point.inputs;
  for (std::size_t j = 0; j < connected.size(); ++j) {
    trial.inputs[connected[j]].value = best.end_input(j);
  }
}

Outcome CollocationCoupling::follow(const MacroStep& step, const CommunicationPoint& point,
                                    Trial& trial) {
  guess_end_inputs(point, trial);
  set_curves(step, point, trial);
  if (error_.looked()) error_.compare_inputs(trial.polynomials, step.size(), nodes_->rows.missed());
  const Outcome followed = subsystems_.follow(step, trial.polynomials, ways());
  CommunicationPointEvaluation evaluation(subsystems_);
  const Outcome at_end =
      consistent_.solve(evaluation, Wanted::values_and_derivatives, trial.inputs, trial.outputs);
  set_curves(step, point, trial);
  return at_end == Outcome::ok ? followed : at_end;
}

CouplingReport CollocationCoupling::solve(const MacroStep& step, const CommunicationPoint& point,
                                          Trial& trial) {
  CouplingReport report;
  step_ = step;
  if (choice_ && choice_->count() != nodes_->nodes.count()) take_nodes(choice_->count());
  if (point.last_step > 0.0 && !complete_steps(point)) {
    report.status = CouplingStatus::failed;
    report.followed = false;
    report.retryable = false;
    return report;
  }
  report.evaluations = 1;
  report.nodes = static_cast<std::int32_t>(nodes_->nodes.count());
  const End end = sweep(step, point, report);
  if (end == End::failed || end == End::slow) {
    report.status = end == End::failed ? CouplingStatus::failed : CouplingStatus::not_converged;
    report.followed = false;
    return report;
  }
  report.at_noise = end == End::at_noise;
  report.ended_early = end == End::out_of_time;
  report.noise = report.at_noise ? sweeps_.left() / method_.tolerance.relative : 0.0;
  report.residual = sweeps_.left() / method_.tolerance.relative;
  guess_.remember(*system_, step);
  if (report.ended_early) system_->complete_outputs();
  report.followed = error_.find(*system_, step, report.ended_early);
  if (report.ended_early) report.residual = error_.within() / method_.tolerance.relative;
  if (!report.followed || follow(step, point, trial) == Outcome::failed) {
    report.status = CouplingStatus::failed;
    return report;
  }
  nodes_->rows.fill(*system_, point, trial);
  if (method_.estimate == ErrorEstimate::predictor) {
    report.error = error_.norm(step.size(), trial.outputs);
    report.error_order = nodes_->nodes.order();
    if (choice_)
      seen_ = {step.size(), report.error, error_.unmasked(), error_.decay(), sweeps_.count()};
  }
  return report;
}

void CollocationCoupling::judged(const StepJudgement& judgement) {
  if (choice_) choice_->learn(seen_, judgement);
}

std::span<const double> CollocationCoupling::tell_inside(std::span<PassedPoint> points) {
  auto& between = nodes_->between;
  if (!between) between.emplace(subsystems_, nodes_->nodes, solver_options(family_));
  if (between->find(*system_, step_, nodes_->rows.all().inputs.back(), points))
    return between->missed();
  const auto failure = agree_on_text(subsystems_.comm(), between->failure());
  throw SimulationError("t = " + short_number(step_.end) +
                        " s: rows inside the macro-step cannot be found, " +
                        failure.value_or("their linear system could not be solved") +
                        "; use a -cosim_output_interval that communication points meet");
}

void CollocationCoupling::restart(CommunicationPoint& point) {
  make_touched_consistent(subsystems_, consistent_, Wanted::values_and_derivatives, point);
  guess_.forget();
  sweeps_.restart();
  error_.restart(point);
}

std::string CollocationCoupling::explain(const CouplingReport& /*report*/) {
  const auto of_nodes = system_->failure() ? system_->failure() : subsystems_.failure();
  const auto own = unhandled_ ? unhandled_ : of_nodes;
  if (const auto failure = agree_on_text(subsystems_.comm(), own)) return *failure;
  return "Newton's method for states and inputs at the nodes does not converge; use a smaller "
         "-cosim_step, or -cosim_adapt predictor";
}

void CollocationCoupling::io(Archive& archive) {
  auto count = static_cast<std::int32_t>(nodes_->nodes.count());
  archive.as("nodes", [&] { archive(count); });
  if (count != nodes_->nodes.count()) take_nodes(count);
  archive.as("system", [&] { system_->io(archive); });
  archive.as("rows", [&] { nodes_->rows.io(archive); });
  CONCORD_MEMBERS(archive, consistent_, guess_, sweeps_, error_);
  if (choice_) archive.as("choice", [&] { choice_->io(archive); });
}

}  // namespace concord
