#include "coupling/estimates/error_propagation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "coupling/estimates/estimate_interval.hpp"
#include "support/agreement.hpp"
#include "support/work_clock.hpp"

namespace concord {
namespace {

constexpr double diagonal = CarriedErrors::gamma;
using How = CarriedErrors::How;

/// Intervals that differ by less than this fraction are of one size.
constexpr double same_size = 1e-8;

constexpr SolverOptions estimate_options{"estimate_", 1e-6};

Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

}  // namespace

ErrorPropagation::ErrorPropagation(RankNetwork& subsystems, bool consistent, bool closely,
                                   bool carried, bool rows)
    : subsystems_(subsystems),
      closely_(closely),
      carried_(carried),
      small_(subsystems.network().coupled_links().size() <= EstimateInterval::few_inputs),
      constraints_(subsystems),
      consistent_(consistent),
      looks_between_(closely && !constraints_.any_indirect() &&
                     (rows || subsystems.network().has_loops() || constraints_.any())),
      parts_(subsystems.n_own()),
      outputs_(subsystems.n_outputs()),
      fed_(subsystems.n_inputs()),
      offsets_(subsystems),
      per_output_(subsystems.n_inputs()),
      nothing_(subsystems.connected_inputs().size()) {
  between_.assign(subsystems.n_outputs(), 0.0);
  const std::vector<char> sparse_ones = sparse_parts(subsystems);
  if (!carried) over_interval_.emplace(subsystems, constraints_, 1, estimate_options, sparse_ones);
  const auto late = [&](std::size_t k) { return subsystems.own(k).description().kind == "delay"; };
  any_late_ =
      agree_on_largest(subsystems.comm(), std::ranges::any_of(subsystems.all(), late) ? 1 : 0) != 0;
  // What is kept does not depend on where rows are asked for.
  const Network& network = subsystems.network();
  if (consistent || (looks_between_ && constraints_.any()) || any_late_ ||
      network.has_feedthrough()) {
    direct_.emplace(subsystems, constraints_, 1, estimate_options, sparse_ones);
  }
  subsystems.exchange(std::vector<Sample>(outputs_.size(), Sample{1.0}), fed_);
  for (std::size_t i = 0; i < fed_.size(); ++i) per_output_[i] = fed_[i].value - offsets_[i];
  const auto nothing = std::make_shared<Spread>();
  const auto none = std::make_shared<const Linearization>();
  std::size_t first = 0, first_held = 0;
  const auto& held = subsystems.held_inputs();
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Part& part = parts_[k];
    std::size_t last_held = first_held;
    while (last_held < held.size() && held[last_held] < subsystems.inputs_of(k).last) ++last_held;
    part.held = {first_held, last_held};
    first_held = last_held;
    std::size_t last = first;
    const auto& connected = subsystems.connected_inputs();
    while (last < connected.size() && connected[last] < subsystems.inputs_of(k).last) ++last;
    part.connected = {first, last};
    first = last;
    part.spread = nothing;
    part.newest = none;
    part.teller = dynamic_cast<TellsGrazes*>(&subsystems.own(k));
    if (sparse_ones[k] != 0) {
      part.sparse = dynamic_cast<LinearizesSparsely*>(&subsystems.own(k));
      part.pattern = part.sparse->linear_pattern();
    }
    if (part.teller != nullptr) part.discrete.setZero(index(part.teller->discrete_count()));
  }
  lay_columns();
  const auto tells = [](const Part& part) { return part.teller != nullptr; };
  const int any = std::ranges::any_of(parts_, tells) ? 1 : 0;
  any_teller_ = agree_on_largest(subsystems.comm(), any) != 0;
  const auto sparse = [](const Part& part) { return part.sparse != nullptr; };
  any_sparse_ =
      agree_on_largest(subsystems.comm(), std::ranges::any_of(parts_, sparse) ? 1 : 0) != 0;
}

void ErrorPropagation::io(Archive& archive) {
  const bool other_interval =
      archive.changes([&] { CONCORD_MEMBERS(archive, h_, how_, single_step_); });
  CONCORD_MEMBERS(archive, steady_);
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Part& part = parts_[k];
    bool other = take_pattern(part) || other_interval;
    Linearization mean = part.spread->mean;
    archive.within(k, [&] {
      CONCORD_MEMBERS(archive, part);
      other = archive.changes([&] { part.pass_mean(archive, mean); }) || other;
    });
    if (archive.reading()) part.newest = kept(*part.newest);
    if (other && part.known) {
      take_linearization(k, mean);
      if (!carried_) factorize(part, h_);
    }
  }
  if (over_interval_) match_entries(&Spread::gain, *over_interval_);
  if (direct_) match_entries(&Spread::d, *direct_);
  CONCORD_MEMBERS_PER(archive, Per::output, outputs_);
  if (over_interval_) {
    CONCORD_MEMBERS(archive, *over_interval_);
  }
  if (direct_) {
    CONCORD_MEMBERS(archive, *direct_);
  }
}

void ErrorPropagation::Part::io(Archive& archive) {
  const auto values = [&](auto&& vector) {
    archive.values(std::span(vector.data(), static_cast<std::size_t>(vector.size())));
  };
  archive.as("errors", [&] { values(x()); });
  archive.as("integrated", [&] { values(integrated()); });
  archive.as("discrete", [&] { values(discrete); });
  archive.as("left_at_end", [&] { values(left_at_end()); });
  Linearization last = *newest;
  CONCORD_MEMBERS(archive, continues, last.f_x, last.f_u, last.g_x, last.g_u, last.f_t, last.g_t,
                  last.g_late, last.late, last.parameters);
  if (archive.reading()) newest = std::make_shared<const Linearization>(std::move(last));
  bool answers_late = late != nullptr;
  CONCORD_MEMBERS(archive, steady, restarts, answers_late);
  if (!answers_late) late.reset();
  if (answers_late && !late) late = std::make_unique<LateErrors>();
  if (late) CONCORD_MEMBERS(archive, *late);
}

void ErrorPropagation::Part::pass_mean(Archive& archive, Linearization& linearization) {
  CONCORD_MEMBERS(archive, known, linearization.f_x, linearization.f_u, linearization.g_x,
                  linearization.g_u, linearization.g_late, linearization.late);
}

/// Inputs that are the same over several macro-steps would let what couples subsystems relax by
/// e^z - 1, where it does by z, z being how far these relax by themselves.
bool ErrorPropagation::relaxes_slowly(const Part& part, double h) const {
  return single_step_ || !is_fast(part, h);
}

/// Beside an interval.
bool ErrorPropagation::is_fast(const Part& part, double h) {
  constexpr double about_the_same = 0.7;
  const auto n = static_cast<double>(part.spread->a.rows());
  return -CarriedErrors::gamma * h * part.spread->a.trace() > about_the_same * n;
}

/// Once for all that share it.
void ErrorPropagation::factorize(Part& part, double h) const {
  Spread& spread = *part.spread;
  const How how = how_ == How::exactly && relaxes_slowly(part, h) ? How::exactly : How::by_stages;
  if (spread.h == h && spread.how == how) return;
  spread.h = h;
  spread.how = how;
  if (part.late) {
    spread.d = Eigen::MatrixXd(part.late->share(h) * part.late->gain());
    spread.d_held = Eigen::MatrixXd(part.late->share(h) * part.late->by_held());
  }
  spread.carried.prepare(spread.a, h, how);
  spread.response = spread.carried.response(spread.b);
  spread.gain = sum_with_product(spread.d, spread.c, spread.response);
}

ErrorPropagation::State ErrorPropagation::linearize_all(const CommunicationPoint& point, double h) {
  const bool single_before = std::exchange(single_step_, h < 1.5 * point.last_step);
  const bool closely = !subsystems_.network().has_constraints() && (single_step_ || small_);
  const How before = std::exchange(how_, closely ? How::exactly : How::by_stages);
  const bool new_size =
      std::abs(h - h_) > same_size * h || how_ != before || single_step_ != single_before;
  if (new_size) h_ = h;
  State state = new_size ? resized : same;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const State own = linearize(k, point);
    if (own == failed) {
      return failed;
    }
    if (!carried_ && (own == renewed || new_size)) {
      factorize(parts_[k], h_);
    }
    state = std::max(state, own);
  }
  return state;
}

/// Where a subsystem's K can have other entries than the system's, this is made anew.
void ErrorPropagation::match_entries(LinearMap Spread::*gain, InputSystem& system) {
  if (!any_sparse_) return;
  bool differs = false;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const LinearMap& own = parts_[k].spread.get()->*gain;
    if (!own.is_sparse() || system.gains().has_entries_of(k, own.entries())) continue;
    system.gains().set(k, own.entries());
    differs = true;
  }
  if (agree_on_largest(subsystems_.comm(), differs ? 1 : 0) != 0) system.restructure();
}

/// fed_ = P outputs_, without the offsets of units.
void ErrorPropagation::exchange() {
  subsystems_.exchange(outputs_, fed_);
  for (const std::size_t i : subsystems_.connected_inputs()) {
    fed_[i].value -= offsets_[i];
  }
}

/// The inputs of all subsystems from what the outputs are without them.
bool ErrorPropagation::solve(InputSystem& system, std::span<const double> disturbance) {
  exchange();
  const auto& connected = subsystems_.connected_inputs();
  const auto b = system.right_side();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    b[j] = fed_[connected[j]].value + disturbance[j];
  }
  const bool solved = system.solve();
  for (Part& part : parts_) {
    for (std::size_t c = 0; c < part.connected.size(); ++c) {
      part.u()[index(c)] = system.solution()[part.connected.first + c];
    }
  }
  return solved;
}

/// From the target over gamma H.
bool ErrorPropagation::stage(std::span<const double> disturbance) {
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Part& part = parts_[k];
    part.stage() = part.spread->carried.over_last(part.target(), part.driven());
    part.spread->c.set_product(part.stage(), part.y());
    part.spread->d_held.add_product(part.u_held(), part.y());
    part.y() += part.g_discrete();
    if (part.late) part.y() += part.arriving;
    write_outputs(k);
  }
  const bool solved = solve(*over_interval_, disturbance);
  for (Part& part : parts_) {
    part.spread->response.add_product(part.u(), part.stage());
  }
  return solved;
}

/// e - P D d (HoldErrors).
void ErrorPropagation::pass_through(Disturbance& disturbance) {
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Part& part = parts_[k];
    for (std::size_t c = 0; c < part.connected.size(); ++c) {
      part.u()[index(c)] = disturbance.deviation[part.connected.first + c];
    }
    part.spread->d.set_product(part.u(), part.y());
    write_outputs(k);
  }
  exchange();
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const double passed = disturbance.unseen[j] * fed_[connected[j]].value;
    disturbance.mean[j] = constraints_.is_equation(j) ? 0.0 : disturbance.mean[j] - passed;
  }
}

/// What held inputs are wrong by over the interval: what they were given wrongly, and what fed them
/// was wrong by before it.
void ErrorPropagation::hold(const Disturbance& disturbance) {
  if (!subsystems_.network().has_held()) {
    return;
  }
  subsystems_.exchange(outputs_, fed_);
  for (Part& part : parts_) {
    for (std::size_t c = 0; c < part.held.size(); ++c) {
      const std::size_t i = subsystems_.held_inputs()[part.held.first + c];
      part.u_held()[index(c)] = fed_[i].value - offsets_[i] + disturbance.held[part.held.first + c];
    }
  }
}

void ErrorPropagation::write_outputs(std::size_t k) {
  const std::size_t first = subsystems_.outputs_of(k).first;
  for (Eigen::Index o = 0; o < parts_[k].y().size(); ++o) {
    outputs_[first + static_cast<std::size_t>(o)].value = parts_[k].y()[o];
  }
}

/// e at the two stages: closely what it is at the end, which is all that fast modes know of, and
/// before that what gives its mean.
void ErrorPropagation::set_stages(const Disturbance& disturbance) {
  first_stage_.resize(disturbance.mean.size());
  const std::span<const double> second = closely_ ? disturbance.end : disturbance.mean;
  second_stage_.assign(second.begin(), second.end());
  for (std::size_t j = 0; j < first_stage_.size(); ++j) {
    if (closely_ && constraints_.is_equation(j)) second_stage_[j] = 0.0;
    first_stage_[j] = (disturbance.mean[j] - diagonal * second_stage_[j]) / (1.0 - diagonal);
  }
}

/// What e does beside its mean, A B times its moment: it comes early in the macro-step, or late.
/// Fast states are over it by the end.
void ErrorPropagation::add_moments(Part& part, double h, const Disturbance& disturbance) const {
  constexpr double of_shares = 12.0;  // 1 over the variance of what is spread evenly over (0, 1)
  const Eigen::Map<const Eigen::VectorXd> own(disturbance.moment.data() + part.connected.first,
                                              index(part.connected.size()));
  if (own.isZero(0.0)) return;
  const double passed = step_ * part.spread->a.trace();
  part.spread->b.set_product(own, part.stage());
  part.spread->a.add_product(part.stage(), part.driven(),
                             1.0 / (h * (1.0 + passed * passed / of_shares)));
}

bool ErrorPropagation::go_by_stages(double h, const Disturbance& disturbance) {
  set_stages(disturbance);
  for (Part& part : parts_) {
    part.target() = part.x();
    // What integrators have left, evenly over the interval: what dies out within it does so here.
    part.spread->b_held.set_product(part.u_held(), part.driven());
    part.driven() += part.f_discrete();
    part.driven() += part.integrated() / h;
    add_moments(part, h, disturbance);
    if (part.late) part.arriving = part.late->over_first(diagonal);
  }
  if (!stage(first_stage_)) return false;
  for (Part& part : parts_) {
    part.target() = part.spread->carried.over_first(part.x(), part.stage(),
                                                    part.driven() + part.spread->b * part.u());
    if (!part.late) continue;
    part.late->add(1.0 - diagonal, part.u());
    part.arriving = part.late->over_last();
  }
  if (!stage(second_stage_)) return false;
  for (Part& part : parts_) {
    part.x() = part.stage();
    part.integrated().setZero();
    if (part.late) part.late->add(diagonal, part.u());
  }
  return true;
}

/// By the coupling's own linear system.
bool ErrorPropagation::carry(const Disturbance& disturbance, CarriesErrors& coupling) {
  carried_errors_.resize(parts_.size());
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const Part& part = parts_[k];
    const IndexRange inputs = subsystems_.inputs_of(k);
    CarriedError& error = carried_errors_[k];
    error.x = part.x();
    error.u.setZero(index(inputs.size()));
    error.f = part.f_discrete();
    error.g = part.g_discrete();
    for (std::size_t c = 0; c < part.held.size(); ++c) {
      const std::size_t i = subsystems_.held_inputs()[part.held.first + c];
      error.u[index(i - inputs.first)] = part.u_held()[index(c)];
    }
  }
  const bool solved = coupling.carry_errors(carried_errors_, disturbance.mean);
  for (std::size_t k = 0; k < parts_.size(); ++k) parts_[k].x() = carried_errors_[k].x;
  return solved;
}

bool ErrorPropagation::advance(const CommunicationPoint& point, double h, Disturbance& disturbance,
                               CarriesErrors* coupling) {
  const LogStageScope apart(log_events().estimate_stage());
  const PhaseScope scope(subsystems_.clock(), Phase::estimate);
  step_ = point.last_step;
  const State state = linearize_all(point, h);
  const auto worst =
      static_cast<State>(agree_on_largest(subsystems_.comm(), static_cast<int>(state)));
  if (worst == failed) {
    return false;
  }
  steady_ = worst < renewed;
  if (worst != same) {
    if (over_interval_) {
      put_gains(&Spread::gain, *over_interval_);
      over_interval_->assemble();
    }
    if (direct_) assemble_direct();
  }
  for (std::size_t k = 0; k < parts_.size(); ++k) pass_discrete(k, point);
  hold(disturbance);
  pass_through(disturbance);
  if (!look_between(disturbance, h)) return false;
  for (Part& part : parts_) {
    part.x_begin() = part.x();
    part.u_begin() = part.u();
    if (part.late) part.late->begin(h);
  }
  if (!pass_layers(disturbance)) return false;
  if (!(carried_ ? carry(disturbance, *coupling) : go_by_stages(h, disturbance))) return false;
  for (Part& part : parts_) {
    part.x() += part.left_at_end();
    part.left_at_end().setZero();
  }
  const bool solved = end(point, disturbance);
  for (Part& part : parts_)
    if (part.late) part.late->end(h, part.u_held());
  return solved;
}

/// What is left at the end of the last macro-step has had no time to die out.
void ErrorPropagation::add_integration_errors(Left left) {
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Part& part = parts_[k];
    const std::span<const double> errors = subsystems_.own(k).integration_errors();
    part.integrated() += part.left_at_end();
    part.left_at_end().setZero();
    Column sum = left == Left::at_end ? part.left_at_end() : part.integrated();
    for (std::size_t i = 0; i < errors.size(); ++i) sum[index(i)] += errors[i];
  }
}

double ErrorPropagation::error_of(std::size_t k, const Graze& graze) const {
  const Part& part = parts_[k];
  const std::size_t first = subsystems_.inputs_of(k).first;
  double error = 0.0;
  for (std::size_t s = 0; s < graze.by_states.size(); ++s) {
    const double at_ends =
        std::max(std::abs(part.x_begin()[index(s)]), std::abs(part.x()[index(s)]));
    error += graze.by_states[s] * at_ends;
  }
  for (std::size_t c = 0; c < part.connected.size(); ++c) {
    const std::size_t i = subsystems_.connected_inputs()[part.connected.first + c] - first;
    error += graze.by_inputs[i] *
             std::max(std::abs(part.u_begin()[index(c)]), std::abs(part.u()[index(c)]));
  }
  for (std::size_t c = 0; c < part.held.size(); ++c) {
    const std::size_t i = subsystems_.held_inputs()[part.held.first + c] - first;
    error += graze.by_inputs[i] * std::abs(part.u_held()[index(c)]);
  }
  return error;
}

/// Those that belong to what feeds them; else the last stage's, with e where the interval ends.
bool ErrorPropagation::find_inputs_at_end(const Disturbance& disturbance) {
  if (consistent_) {
    return solve(*direct_, nothing_);
  }
  for (Part& part : parts_) {
    for (std::size_t c = 0; c < part.connected.size() && !closely_; ++c) {
      const std::size_t j = part.connected.first + c;
      part.u()[index(c)] += disturbance.end[j] - disturbance.mean[j];
    }
  }
  return true;
}

/// By means, in which what states inside are wrong by cancels, but of those that are fast beside
/// the interval, which pass inputs on: what cubics and quintics miss, s^2 (1 - s)^2 and s^3 (1 -
/// s)^3, is at most 1.9 and 2.2 times its mean, what held values miss twice.
bool ErrorPropagation::look_between(const Disturbance& disturbance, double h) {
  constexpr double over_mean = 2.0;
  if (!looks_between_) return true;
  missed_.assign(disturbance.largest_seen.begin(), disturbance.largest_seen.end());
  for (std::size_t j = 0; j < missed_.size(); ++j) {
    const double mean = disturbance.mean[j];
    const bool larger = disturbance.unseen[j] > 0.0 && std::abs(mean) > std::abs(missed_[j]);
    missed_[j] = over_mean * (larger ? mean : missed_[j]);
  }
  if (!solve_between()) return false;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const std::size_t first = subsystems_.outputs_of(k).first;
    const Spread& spread = *parts_[k].spread;
    const LinearMap& passed = is_fast(parts_[k], h) ? spread.gain : spread.d;
    passed.set_product(parts_[k].u(), parts_[k].y());
    for (Eigen::Index o = 0; o < parts_[k].y().size(); ++o)
      between_[first + static_cast<std::size_t>(o)] = std::abs(parts_[k].y()[o]);
  }
  return true;
}

/// e of all inputs, with what comes about at once where anything does.
bool ErrorPropagation::solve_between() {
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const Part& part = parts_[k];
    part.y().setZero();
    write_outputs(k);
    for (std::size_t c = 0; c < part.connected.size(); ++c)
      part.u()[index(c)] = missed_[part.connected.first + c];
  }
  return !direct_ || solve(*direct_, missed_);
}

/// To what is put out late: a layer passes what is direct at once, and a delay as what it was.
bool ErrorPropagation::pass_layers(const Disturbance& disturbance) {
  if (!any_late_) return true;
  double largest = 0.0;
  for (const double layer : disturbance.layers) largest = std::max(largest, std::abs(layer));
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Part& part = parts_[k];
    part.y().setZero();
    if (part.late) part.y() = part.late->layers();
    for (const double layer : part.y()) largest = std::max(largest, std::abs(layer));
    write_outputs(k);
  }
  if (agree_on_largest(subsystems_.comm(), largest) == 0.0) return true;
  if (!solve(*direct_, disturbance.layers)) return false;
  for (Part& part : parts_)
    if (part.late) part.late->add_layers(part.u());
  return true;
}

/// The outputs where the interval ends.
bool ErrorPropagation::end(const CommunicationPoint& point, const Disturbance& disturbance) {
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Part& part = parts_[k];
    part.spread->c.set_product(part.x(), part.y());
    pass_states_through_curve(k, point);
    part.y() += part.g_discrete();
    if (part.late) part.y() += part.late->at_end();
    write_outputs(k);
  }
  const bool solved = find_inputs_at_end(disturbance);
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    parts_[k].spread->d.add_product(parts_[k].u(), parts_[k].y());
    parts_[k].spread->d_held.add_product(parts_[k].u_held(), parts_[k].y());
    if (!consistent_) pass_through_curve(k, point, disturbance.end);
    write_outputs(k);
  }
  return solved;
}

/// What inputs that are wrong by as much as they are make of outputs directly is more than D tells:
/// g itself tells it.
void ErrorPropagation::pass_through_curve(std::size_t k, const CommunicationPoint& point,
                                          std::span<const double> end) {
  Part& part = parts_[k];
  exact_.resize(outputs_.size());
  const auto wrong = end.subspan(part.connected.first, part.connected.size());
  bool large = false;
  for (std::size_t c = 0; c < wrong.size(); ++c) {
    const double size =
        subsystems_.input_sizes()[subsystems_.connected_inputs()[part.connected.first + c]];
    large = large ||
            (size > 0.0 && std::abs(wrong[c]) >= size && !part.spread->d.is_zero_column(index(c)));
  }
  if (!large || part.late || !subsystems_.own(k).description().capabilities.point_outputs ||
      subsystems_.point_outputs(k, point.inputs, Wanted::values, exact_) != Outcome::ok) {
    return;
  }
  const Eigen::VectorXd u = Eigen::Map<const Eigen::VectorXd>(wrong.data(), index(wrong.size()));
  const std::size_t first = subsystems_.outputs_of(k).first;
  part.spread->d.add_product(u, part.y(), -1.0);
  for (Eigen::Index o = 0; o < part.y().size(); ++o) {
    const std::size_t output = first + static_cast<std::size_t>(o);
    part.y()[o] += point.outputs[output].value - exact_[output].value;
  }
}

/// The same of states that are wrong by more than they are, as of a tank that runs empty, q =
/// sqrt(h).
void ErrorPropagation::pass_states_through_curve(std::size_t k, const CommunicationPoint& point) {
  const Part& part = parts_[k];
  const Capabilities& has = subsystems_.own(k).description().capabilities;
  if (!has.states || !has.state_outputs) return;
  const auto x = subsystems_.own(k).states();
  bool large = false;
  for (std::size_t i = 0; i < x.size(); ++i)
    large = large || (std::abs(part.x()[index(i)]) > std::abs(x[i]) &&
                      !part.spread->c.is_zero_column(index(i)));
  // One of both sides may be none that g knows.
  if (large && !find_outputs_beside(k, point, -1.0)) find_outputs_beside(k, point, 1.0);
}

/// What g says of states that are as wrong on this side, with the point's inputs; whether it says
/// anything. Outputs there may come from others.
bool ErrorPropagation::find_outputs_beside(std::size_t k, const CommunicationPoint& point,
                                           double sign) {
  Part& part = parts_[k];
  const IndexRange inputs = subsystems_.inputs_of(k);
  const auto states = subsystems_.own(k).states();
  std::vector<double> x(states.begin(), states.end());
  std::vector<Sample> here(subsystems_.outputs_of(k).size()), beside(here.size());
  const auto find = [&](std::span<Sample> outputs) {
    StatePoint at{point.time, h_, x, std::span(point.inputs).subspan(inputs.first, inputs.size())};
    at.wanted = Wanted::values;
    Outcome outcome = Outcome::failed;
    const auto thrown =
        subsystems_.asking(k, [&] { outcome = subsystems_.own(k).outputs_at(at, outputs); });
    return !thrown && outcome == Outcome::ok;
  };
  if (!find(here)) return false;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += sign * part.x()[index(i)];
  if (!find(beside)) return false;
  for (std::size_t o = 0; o < here.size(); ++o)
    if (!std::isfinite(beside[o].value - here[o].value)) return false;
  for (std::size_t o = 0; o < here.size(); ++o)
    part.y()[index(o)] = sign * (beside[o].value - here[o].value);
  return true;
}

/// K of one subsystem over a long time: what its inputs can have made of its outputs.
LinearMap ErrorPropagation::gain_over(const Part& part, double h) {
  CarriedErrors carried;
  carried.prepare(part.spread->a, h, How::by_stages);
  return sum_with_product(part.spread->d, part.spread->c, carried.response(part.spread->b));
}

}  // namespace concord
