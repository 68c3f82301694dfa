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
      nodes_(family, method.nodes),
      curves_(nodes_),
      consistent_(subsystems),
      system_(subsystems, nodes_, SolverOptions{prefix(family), solver_rtol}),
      guess_(subsystems, nodes_),
      sweeps_(method.tolerance.relative, method.max_it),
      error_(subsystems, nodes_, SolverOptions{prefix(family), solver_rtol}, method),
      at_nodes_(subsystems, nodes_),
      shares_(shares_of_way(nodes_)),
      values_(shares_.size() + 1),
      ways_(shares_.size() * subsystems.n_states()) {}

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
  system_.begin(step, point);
  guess_.put_into(system_, step, point);
  const End end = sweeps_.run(system_, derivatives);
  report.iterations += sweeps_.count();
  report.linear_iterations = static_cast<std::int32_t>(system_.linear_iterations());
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
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    values_.front() = point.inputs[i].value;
    for (std::size_t v = 1; v + 1 < values_.size(); ++v) values_[v] = system_.input(j, v - 1);
    values_.back() = trial.inputs[i].value;
    trial.polynomials[i] = curves_.polynomial(values_, step.size());
  }
}

std::vector<IntegratedWay> CollocationCoupling::ways() {
  std::vector<IntegratedWay> result;
  const Eigen::VectorXd ends = system_.end_states();
  std::span<double> rest = ways_;
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange states = subsystems_.states_of(k);
    const auto way = rest.first(shares_.size() * states.size());
    rest = rest.subspan(way.size());
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      const bool node = i + 1 < shares_.size();
      const double* const from =
          node ? system_.states().col(static_cast<Eigen::Index>(i)).data() : ends.data();
      std::copy_n(from + states.first, states.size(), way.data() + i * states.size());
    }
    result.push_back({shares_, way, error_.of_states(k)});
  }
  return result;
}

/// Those of the best polynomials that are known, until the subsystems stand there.
void CollocationCoupling::guess_end_inputs(const CommunicationPoint& point, Trial& trial) const {
  const NodeSystem& best = error_.looked() ? error_.finer() : system_;
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
  if (error_.looked()) error_.compare_inputs(trial.polynomials, step.size(), at_nodes_.missed());
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
  if (point.last_step > 0.0 && !complete_steps(point)) {
    report.status = CouplingStatus::failed;
    report.followed = false;
    report.retryable = false;
    return report;
  }
  report.evaluations = 1;
  const End end = sweep(step, point, report);
  if (end == End::failed || end == End::slow) {
    report.status = end == End::failed ? CouplingStatus::failed : CouplingStatus::not_converged;
    report.followed = false;
    return report;
  }
  report.at_noise = end == End::at_noise;
  report.noise = report.at_noise ? sweeps_.left() / method_.tolerance.relative : 0.0;
  report.residual = sweeps_.left() / method_.tolerance.relative;
  guess_.remember(system_, step);
  report.followed = error_.find(system_, step);
  if (!report.followed || follow(step, point, trial) == Outcome::failed) {
    report.status = CouplingStatus::failed;
    return report;
  }
  at_nodes_.fill(system_, point, trial);
  if (method_.estimate == ErrorEstimate::predictor) {
    report.error = error_.norm(step.size(), trial.outputs);
    report.error_order = nodes_.order();
  }
  return report;
}

void CollocationCoupling::tell_inside(std::span<PassedPoint> points) {
  if (!rows_)
    rows_.emplace(subsystems_, nodes_, SolverOptions{prefix(nodes_.family()), solver_rtol});
  if (rows_->find(system_, step_, at_nodes_.all().inputs.back(), points)) return;
  const auto failure = agree_on_text(subsystems_.comm(), rows_->failure());
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
  const auto of_nodes = system_.failure() ? system_.failure() : subsystems_.failure();
  const auto own = unhandled_ ? unhandled_ : of_nodes;
  if (const auto failure = agree_on_text(subsystems_.comm(), own)) return *failure;
  return "Newton's method for states and inputs at the nodes does not converge; use a smaller "
         "-cosim_step, or -cosim_adapt predictor";
}

void CollocationCoupling::io(Archive& archive) {
  CONCORD_MEMBERS(archive, consistent_, system_, guess_, sweeps_, error_, at_nodes_);
}

}  // namespace concord
