#include "coupling/estimates/error_account.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "coupling/estimates/error_propagation.hpp"
#include "coupling/estimation/estimators.hpp"
#include "signal/smallest_size.hpp"
#include "subsystem/code_of_others.hpp"
#include "subsystem/grazes.hpp"
#include "support/agreement.hpp"
#include "support/work_clock.hpp"

namespace concord {
namespace {

constexpr const char* compare = "; compare with a run at half the -cosim_step";

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// What errors of inputs that others feed bring about in a subsystem and nobody knows; empty where
/// its linearisation tells.
std::string secret_of(const RankNetwork& subsystems, std::size_t k) {
  const auto& description = subsystems.own(k).description();
  const auto& connected = subsystems.connected_inputs();
  const auto fed = std::ranges::lower_bound(connected, subsystems.inputs_of(k).first);
  if (fed == connected.end() || *fed >= subsystems.inputs_of(k).last) return "";
  const auto held = [](const auto& output) { return output.kind == SignalKind::held; };
  const bool tells = dynamic_cast<const TellsGrazes*>(&subsystems.own(k)) != nullptr;
  if (is_code_of_others(description) && !tells && std::ranges::any_of(description.outputs, held))
    return "does not tell what its events depend on, without which errors of their instants are "
           "not known";
  return description.capabilities.holds_inputs
             ? "holds its inputs in micro-steps, and nobody knows what these leave"
             : "";
}

std::optional<std::string> why_not(const Method& method, const RankNetwork& subsystems) {
  if (method.solve.estimates_no_error != nullptr) {
    return method.solve.estimates_no_error;
  }
  if (method.schedule.half_steps_apart) {
    return "none for -cosim_schedule staggered_grid; -cosim_adapt predictor gives one";
  }
  if (subsystems.network().has_constraints() && method.constraints == Constraints::staggered) {
    return "none for -cosim_constraints staggered, which leaves outputs of carriers as the held "
           "unknowns gave them; -cosim_constraints projection gives one";
  }
  std::optional<std::string> lacking;
  for (const std::size_t k : subsystems.all()) {
    const auto& description = subsystems.own(k).description();
    if (!lacking && !description.capabilities.linearization) {
      lacking = "subsystem '" + description.name +
                "' gives no linearisation, without which errors of macro-steps do not add up" +
                compare;
    }
    if (const std::string secret = secret_of(subsystems, k); !lacking && !secret.empty()) {
      lacking = "subsystem '" + description.name + "' " + secret + compare;
    }
  }
  return agree_on_text(subsystems.comm(), lacking);
}

std::size_t count(const std::vector<std::optional<Link>>& links) {
  return static_cast<std::size_t>(
      std::count_if(links.begin(), links.end(), [](const auto& link) { return link.has_value(); }));
}

/// Outputs of this rank that are unknowns of indirect constraints, or all others but what is left
/// of constraints.
std::vector<std::size_t> outputs_of(const RankNetwork& subsystems, bool indirect) {
  std::vector<std::size_t> result;
  for (const std::size_t k : subsystems.all()) {
    const IndexRange range = subsystems.outputs_of(k);
    const auto constraint = subsystems.network().constraint(subsystems.global(k));
    for (std::size_t o = 0; o < range.size(); ++o) {
      if ((!constraint || o == constraint_value) &&
          (constraint == ConstraintKind::indirect) == indirect) {
        result.push_back(range.first + o);
      }
    }
  }
  return result;
}

}  // namespace

ErrorAccount::ErrorAccount(const Method& method, RankNetwork& subsystems, Sight sight)
    : subsystems_(subsystems),
      sight_(sight),
      at_nodes_(method.solve.at_nodes),
      constraints_(subsystems),
      holds_(method, subsystems),
      inside_(method, subsystems),
      sees_inside_(sight != Sight::ends && !method.takes_steps_twice()),
      controls_(method.estimate == ErrorEstimate::predictor && !method.compares_with_prediction()),
      missing_(why_not(method, subsystems)),
      undecided_(subsystems),
      interval_(count(subsystems.network().coupled_links()), method.estimate != ErrorEstimate::none,
                sight != Sight::ends, method.solve.at_nodes),
      indirect_(outputs_of(subsystems, true)),
      largest_(subsystems.n_outputs(), 0.0),
      rows_(subsystems.n_outputs(), 0.0),
      ranges_(subsystems.n_outputs()),
      settled_(subsystems),
      divergence_(subsystems, outputs_of(subsystems, false), settled_, largest_, ranges_) {
  disturbance_.mean.resize(subsystems.connected_inputs().size());
  disturbance_.deviation.resize(disturbance_.mean.size());
  disturbance_.unseen.resize(disturbance_.mean.size());
  disturbance_.layers.resize(disturbance_.mean.size());
  disturbance_.end = holds_.at_end();
  disturbance_.largest_seen = holds_.largest_seen();
  disturbance_.held.resize(subsystems.held_inputs().size());
  disturbance_.moment.resize(disturbance_.mean.size());
  if (count(subsystems.network().links()) == 0 && !at_nodes_) {
    uncoupled_ =
        "nothing is connected, so that no coupling errs; what integrators leave in each micro-step "
        "is within -subsystem_rtol";
  }
  make_propagation();
}

ErrorAccount::~ErrorAccount() = default;

void ErrorAccount::make_propagation() {
  if (missing()) {
    propagation_.reset();
  } else if (!propagation_) {
    propagation_ = std::make_unique<ErrorPropagation>(subsystems_, holds_.consistent(),
                                                      sight_ != Sight::ends && !at_nodes_,
                                                      at_nodes_, sight_ == Sight::rows);
  }
}

void ErrorAccount::see(const CommunicationPoint& point) {
  for (std::size_t o = 0; o < point.outputs.size(); ++o) {
    ranges_.see(o, point.outputs[o].value);
  }
}

void ErrorAccount::look_ahead(const CommunicationPoint& point, double stop) {
  if (looks_inside()) {
    inside_.scan(point, stop);
  }
}

void ErrorAccount::start(const CommunicationPoint& point, double stop) {
  see(point);
  look_ahead(point, stop);
  divergence_.start(point);
  holds_.start(point, point.inputs);
  inside_.restart(point);
}

double ErrorAccount::look_inside(const MacroStep& step, const CommunicationPoint& point,
                                 const Trial& trial, const Coupling& coupling) {
  if (!looks_inside()) {
    return 0.0;
  }
  const PhaseScope scope(subsystems_.clock(), Phase::estimate);
  inside_.look(step, point, trial, coupling);
  return controls_ ? inside_.in_tolerances(step, trial) : 0.0;
}

double ErrorAccount::observe(const CommunicationPoint& point, Coupling& coupling, bool last) {
  elapsed_ += point.last_step;
  see(point);
  if (sight_ != Sight::ends && !missing_) {
    undecided_.note(point);
  }
  if (!propagation_) {
    undecided_.judge(holds_, nullptr);
    return no_number;
  }
  const auto fed = coupling.fed().empty() ? std::span<const Sample>(point.inputs) : coupling.fed();
  if (coupling.passed_layer()) {
    holds_.pass_layer(point, fed, inside_.means());
  } else {
    holds_.observe(point, fed, inside_.means(), coupling.inside(), coupling.balance());
  }
  for (std::size_t j = 0; j < disturbance_.held.size(); ++j) {
    const double mean = inside_.means()[subsystems_.held_inputs()[j]];
    disturbance_.held[j] += std::isnan(mean) ? 0.0 : point.last_step * mean;
  }
  if (sight_ != Sight::ends || at_nodes_) {
    using Left = ErrorPropagation::Left;
    propagation_->add_integration_errors(at_nodes_ ? Left::at_end : Left::on_the_way);
  }
  if (!at_nodes_ && !coupling.passed_layer() && coupling.balance() == nullptr) {
    add_moments(point.last_step);
  }
  inside_.commit(point);
  inside_.forget();
  const bool over =
      interval_.add(point.last_step) || last || (interval_.ends_at_change() && has_changed_much());
  return over ? propagate(point, coupling.carries_errors(), last) : no_number;
}

/// As far as a mean is known, so is the moment.
void ErrorAccount::add_moments(double h) {
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const bool seen = !constraints_.is_equation(j) && !std::isnan(inside_.means()[connected[j]]);
    if (seen) disturbance_.moment[j] += h * h * inside_.moments()[connected[j]];
  }
}

/// In the interval, whose mean would hide what the error was like.
bool ErrorAccount::has_changed_much() const {
  const double variation = largest_share(holds_.variation());
  return agree_on_largest(subsystems_.comm(), variation) > EstimateInterval::much_change;
}

/// Of what there is of each connected input, in units of its size; equations have none.
double ErrorAccount::largest_share(std::span<const double> of_inputs) const {
  const auto& connected = subsystems_.connected_inputs();
  double largest = 0.0;
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const double size = subsystems_.input_sizes()[connected[j]];
    if (size > 0.0 && !constraints_.is_equation(j)) {
      largest = std::max(largest, of_inputs[j] / size);
    }
  }
  return largest;
}

void ErrorAccount::close(const CommunicationPoint& point) {
  if (propagation_ && !interval_.empty()) {
    propagate(point, nullptr, false);
  }
  if (propagation_) {
    propagation_->begin_instant(point);
  }
}

void ErrorAccount::restart(const CommunicationPoint& point) {
  see(point);
  holds_.start(point, point.inputs);
  inside_.restart(point);
  if (propagation_) {
    propagation_->end_instant(point);
    propagation_->restart();
  }
  if (!propagation_ || !propagation_->steady()) {
    interval_.shorten();
  }
}

void ErrorAccount::lose(const std::string& reason) {
  missing_ = reason;
  propagation_.reset();
}

void ErrorAccount::see_rows(std::span<const double> missed) {
  for (std::size_t o = 0; o < missed.size(); ++o) rows_[o] = std::max(rows_[o], missed[o]);
}

double ErrorAccount::propagate(const CommunicationPoint& point, CarriesErrors* coupling,
                               bool last) {
  const auto& connected = subsystems_.connected_inputs();
  double largest[2] = {largest_share(holds_.largest()), largest_share(holds_.variation())};
  for (std::size_t j = 0; j < connected.size(); ++j) {
    disturbance_.mean[j] = holds_.impulses()[j] / interval_.span();
    disturbance_.layers[j] = holds_.layers()[j] / interval_.span();
    disturbance_.deviation[j] = holds_.deviations()[j] / interval_.span();
    disturbance_.unseen[j] = holds_.unseen()[j] / interval_.span();
  }
  for (double& held : disturbance_.held) held /= interval_.span();
  agree_on_largest(subsystems_.comm(), largest);
  if (!propagation_->advance(point, interval_.span(), disturbance_, coupling)) {
    const auto failure = agree_on_text(subsystems_.comm(), propagation_->failure());
    lose(failure.value_or("its linear system could not be solved; try another -" +
                          std::string(at_nodes_ ? "gauss_pc_type or -radau" : "missiles") +
                          "_pc_type"));
    return no_number;
  }
  undecided_.judge(holds_, propagation_.get());
  holds_.clear();
  std::ranges::fill(disturbance_.held, 0.0);
  std::ranges::fill(disturbance_.moment, 0.0);
  interval_.next(largest[1]);
  estimated_ = true;
  const auto errors = propagation_->outputs();
  const auto between = propagation_->between();
  for (const auto outputs : {std::span<const std::size_t>(indirect_), divergence_.signals()}) {
    for (const std::size_t o : outputs) {
      largest_[o] = std::max(largest_[o], std::abs(errors[o].value) + between[o] + rows_[o]);
    }
  }
  std::ranges::fill(rows_, 0.0);
  divergence_.judge(point, elapsed_, *propagation_, last);
  return largest[0];
}

void ErrorAccount::meet_jump() {
  if (missing_) return;
  lose(std::string("an output of a black box has jumped, which does not tell when") + compare);
}

void ErrorAccount::meet_late_event() {
  if (missing_) return;
  lose(std::string("something has happened later than at its instant, as some subsystem cannot "
                   "roll back or the instant moved with the macro-step") +
       compare);
}

void ErrorAccount::learn(const CommunicationPoint& point, std::span<const double> errors) {
  missing_.reset();
  learnt_ = true;
  divergence_.see_units();
  for (const auto outputs : {std::span<const std::size_t>(indirect_), divergence_.signals()}) {
    for (const std::size_t o : outputs) {
      const double size = std::max(subsystems_.output_sizes()[o], errors[o]);
      largest_[o] = divergence_.is_seen(o, size) ? errors[o] : 0.0;
    }
  }
  divergence_.judge_whole(point);
}

void ErrorAccount::io(Archive& archive) {
  CONCORD_MEMBERS(archive, holds_, inside_, missing_, interval_, estimated_, elapsed_, settled_,
                  divergence_, undecided_);
  CONCORD_MEMBERS_PER(archive, Per::output, largest_, rows_);
  CONCORD_MEMBERS_PER(archive, Per::held, disturbance_.held);
  CONCORD_MEMBERS_PER(archive, Per::connected, disturbance_.moment);
  ranges_.io(archive, Per::output);
  if (archive.reading()) {
    make_propagation();
  }
  if (propagation_) {
    CONCORD_MEMBERS(archive, *propagation_);
  }
}

/// What has stayed 0 would have been as large as its error.
double ErrorAccount::size_of(std::size_t output) const {
  const double size = subsystems_.output_sizes()[output], error = largest_[output];
  const bool counts = size == 0.0 && error > smallest_size && divergence_.is_seen(output, error);
  return counts ? error : size;
}

std::vector<double> ErrorAccount::relative_errors() const {
  std::vector<double> relative(largest_.size(), no_number);
  if (missing() || (propagation_ && !estimated_)) {
    return relative;
  }
  for (std::size_t o = 0; o < largest_.size(); ++o) {
    const double size = size_of(o);
    relative[o] = largest_[o] > 0.0 && size > 0.0 ? largest_[o] / size : 0.0;
    relative[o] = divergence_.says_nothing(o) ? no_number : relative[o];
  }
  for (const std::size_t o : divergence_.signals()) {
    relative[o] = divergence_.hardly_begun(o) ? no_number : relative[o];
  }
  return relative;
}

template <class SizeOf>
double ErrorAccount::largest_in(const Tolerance& tolerance, const SizeOf& size_of) const {
  double worst = 0.0;
  for (std::size_t o = 0; o < largest_.size(); ++o) {
    if (const double known = size_of(o); known > 0.0) {
      const bool by_range = tolerance.of_range && subsystems_.output_sizes()[o] > 0.0;
      const double size = by_range ? ranges_.size(o, known) : known;
      worst = std::max(worst, largest_[o] / tolerance.of(size, size));
    }
  }
  return agree_on_largest(subsystems_.comm(), worst);
}

double ErrorAccount::in_tolerances(const Tolerance& tolerance) const {
  return largest_in(tolerance, [this](std::size_t o) {
    const bool counts = !divergence_.says_nothing(o) && !divergence_.hardly_begun(o);
    return counts ? size_of(o) : 0.0;
  });
}

double ErrorAccount::settled_in_tolerances(const Tolerance& tolerance) const {
  return largest_in(tolerance, [this](std::size_t o) {
    return settled_.settled(o) ? subsystems_.output_sizes()[o] : 0.0;
  });
}

}  // namespace concord
