#include "coupling/estimates/error_account.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "coupling/estimation/estimators.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// Macro-steps in an interval at most; and at least, once as many intervals as a short run has are
/// over, so that they cost a few percent of the time.
constexpr int longest_interval = 64;
constexpr int shortest_later = 16;

/// Intervals are halved and doubled where signals change by more and by less than these shares of
/// their size.
constexpr double much_change = 0.35;
constexpr double little_change = 0.1;

/// Intervals in a row with errors as large as the signal, for a verdict; fewer at the end.
constexpr int for_a_verdict = 10;
constexpr int at_the_end = 3;

/// Times that a signal has been, with an error as large as itself: far off.
constexpr double far_off = 10.0;

/// Intervals of any length that are free: of small networks, whose runs take no time, more.
int free_intervals(std::size_t inputs) {
  constexpr std::size_t work = 4096;
  return static_cast<int>(std::clamp<std::size_t>(work / std::max<std::size_t>(inputs, 1), 8, 256));
}

std::optional<std::string> why_not(const Method& method, const RankNetwork& subsystems) {
  if (method.solve.estimates_no_error != nullptr) {
    return method.solve.estimates_no_error;
  }
  if (method.schedule.half_steps_apart) {
    return "none for -cosim_schedule staggered_grid; -cosim_adapt predictor gives one";
  }
  std::optional<std::string> lacking;
  for (const std::size_t k : subsystems.all()) {
    const auto& description = subsystems.own(k).description();
    if (!lacking && !description.capabilities.linearization) {
      lacking = "subsystem '" + description.name +
                "' gives no linearisation, without which errors of macro-steps do not add up; "
                "compare with a run at half the -cosim_step";
    }
  }
  return agree_on_text(subsystems.comm(), lacking);
}

}  // namespace

ErrorAccount::ErrorAccount(const Method& method, RankNetwork& subsystems)
    : subsystems_(subsystems),
      controlled_(method.estimate != ErrorEstimate::none),
      holds_(method, subsystems),
      unit_sizes_(subsystems),
      missing_(why_not(method, subsystems)),
      largest_(subsystems.n_outputs(), 0.0),
      scale_(subsystems.n_outputs(), 0.0),
      as_large_(subsystems.n_outputs(), 0),
      driven_(subsystems.n_outputs(), 0),
      floors_(subsystems.n_outputs(), 0.0),
      then_(subsystems.n_outputs(), 0.0),
      before_(subsystems.n_outputs(), 0.0) {
  const auto& links = subsystems.network().coupled_links();
  const auto connected =
      std::count_if(links.begin(), links.end(), [](const auto& link) { return link.has_value(); });
  disturbance_.mean.resize(subsystems.connected_inputs().size());
  disturbance_.deviation.resize(disturbance_.mean.size());
  disturbance_.end = holds_.at_end();
  freely_ = free_intervals(static_cast<std::size_t>(connected));
  if (!missing_ && connected > 0) {
    propagation_ = std::make_unique<ErrorPropagation>(subsystems, holds_.consistent());
  }
  sort_outputs();
}

void ErrorAccount::sort_outputs() {
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange range = subsystems_.outputs_of(k);
    const auto constraint = subsystems_.network().constraint(subsystems_.global(k));
    for (std::size_t o = 0; o < range.size(); ++o) {
      if (!constraint || o == constraint_value) {
        auto& these = constraint == ConstraintKind::indirect ? indirect_ : signals_;
        these.push_back(range.first + o);
      }
    }
  }
}

void ErrorAccount::start(const CommunicationPoint& point) {
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange range = subsystems_.outputs_of(k);
    for (std::size_t o = 0; o < range.size(); ++o) {
      const double nominal = subsystems_.own(k).description().outputs[o].nominal;
      scale_[range.first + o] =
          std::max(std::abs(nominal), std::abs(point.outputs[range.first + o].value));
    }
  }
  holds_.start(point, point.inputs);
}

double ErrorAccount::observe(const CommunicationPoint& point, const Coupling& coupling, bool last) {
  elapsed_ += point.last_step;
  if (!propagation_) {
    return missing_ ? no_number : 0.0;
  }
  const auto fed = coupling.fed().empty() ? std::span<const Sample>(point.inputs) : coupling.fed();
  if (coupling.passed_layer()) {
    holds_.pass_layer(point, fed);
  } else {
    holds_.observe(point, fed, coupling.balance());
  }
  span_ += point.last_step;
  ++since_;
  return last || since_ >= interval_ ? propagate(point, last) : no_number;
}

void ErrorAccount::close(const CommunicationPoint& point) {
  if (propagation_ && since_ > 0) {
    propagate(point, false);
  }
}

void ErrorAccount::restart(const CommunicationPoint& point) {
  holds_.start(point, point.inputs);
  interval_ = 1;
}

void ErrorAccount::lose(const std::string& reason) {
  missing_ = reason;
  propagation_.reset();
}

double ErrorAccount::propagate(const CommunicationPoint& point, bool last) {
  const auto& connected = subsystems_.connected_inputs();
  double largest[2] = {0.0, 0.0};  // error of an input, variation of an input
  for (std::size_t j = 0; j < connected.size(); ++j) {
    disturbance_.mean[j] = holds_.impulses()[j] / span_;
    disturbance_.deviation[j] = holds_.deviations()[j] / span_;
    const double size = subsystems_.input_sizes()[connected[j]];
    if (size > 0.0) {
      largest[0] = std::max(largest[0], holds_.largest()[j] / size);
      largest[1] = std::max(largest[1], holds_.variation()[j] / size);
    }
  }
  agree_on_largest(subsystems_.comm(), largest);
  if (!propagation_->advance(point, span_, disturbance_)) {
    const auto failure = agree_on_text(subsystems_.comm(), propagation_->failure());
    lose(failure.value_or("its linear system could not be solved; try another -missiles_pc_type"));
    return no_number;
  }
  holds_.clear();
  span_ = 0.0;
  since_ = 0;
  freely_ = std::max(0, freely_ - 1);
  choose_interval(largest[1]);
  estimated_ = true;
  compare(point);
  judge(point, last);
  return largest[0];
}

void ErrorAccount::choose_interval(double variation) {
  if (variation > much_change) {
    interval_ /= 2;
  } else if (variation < little_change) {
    interval_ *= 2;
  }
  const int shortest = freely_ > 0 || controlled_ ? 1 : shortest_later;
  interval_ = std::clamp(interval_, shortest, longest_interval);
}

/// What the signal would be without its error is its scale, where the error is the smaller part.
void ErrorAccount::compare(const CommunicationPoint& point) {
  constexpr double small_part = 0.5;
  const auto errors = propagation_->outputs();
  for (const std::size_t o : indirect_) {
    largest_[o] = std::max(largest_[o], std::abs(errors[o].value));
  }
  for (const std::size_t o : signals_) {
    const double error = std::abs(errors[o].value);
    const double truth = std::abs(point.outputs[o].value - errors[o].value);
    largest_[o] = std::max(largest_[o], error);
    if (error < small_part * truth) {
      scale_[o] = std::max(scale_[o], truth);
    }
    const bool as_large = error >= std::max(scale_[o], truth) ||
                          (error >= small_part * truth && error >= far_off * scale_[o]);
    as_large_[o] = scale_[o] > 0.0 && as_large ? as_large_[o] + 1 : 0;
  }
}

/// Which outputs' errors nothing sound explains, and which are signals that still rise from
/// nothing.
void ErrorAccount::explain(const CommunicationPoint& point) {
  const auto errors = propagation_->outputs();
  astray_ = as_large_;
  propagation_->excuse_driven(point, elapsed_, scale_, astray_);
  for (std::size_t o = 0; o < astray_.size(); ++o) {
    driven_[o] =
        as_large_[o] > 0 && astray_[o] == 0 && std::abs(errors[o].value) >= far_off * scale_[o];
  }
}

/// Of signals that have grown more than in proportion to time since a quarter to half of it nobody
/// knows yet what errors are relative to.
bool ErrorAccount::settled(std::size_t output) const {
  constexpr double in_proportion = 4.0;
  return subsystems_.output_sizes()[output] <= in_proportion * before_[output];
}

/// Nobody will see it beside others of its unit, and what it grows to is yet to come.
bool ErrorAccount::hardly_begun(std::size_t output) const {
  constexpr double hardly_anything = 1e-9;
  return !settled(output) && std::max(subsystems_.output_sizes()[output], largest_[output]) <=
                                 hardly_anything * unit_sizes_[output];
}

void ErrorAccount::remember_sizes() {
  if (elapsed_ < 2.0 * half_) {
    return;
  }
  const auto sizes = subsystems_.output_sizes().values();
  half_ = elapsed_;
  std::swap(before_, then_);
  std::copy(sizes.begin(), sizes.end(), then_.begin());
}

/// At the end of a run whatever has ever been as large as the signal counts; of signals that have
/// settled, and of those that have left what they were, as what is left of the signal without it.
void ErrorAccount::recall() {
  const auto sizes = subsystems_.output_sizes().values();
  for (const std::size_t o : signals_) {
    const bool known = settled(o) || sizes[o] >= far_off * scale_[o];
    const double left = known ? sizes[o] - largest_[o] : sizes[o];
    if (sizes[o] > 0.0 && largest_[o] >= left) {
      as_large_[o] = std::max(as_large_[o], at_the_end);
    }
  }
}

void ErrorAccount::judge(const CommunicationPoint& point, bool last) {
  const int enough = last ? at_the_end : for_a_verdict;
  if (last) {
    recall();
  }
  const auto worst = std::max_element(as_large_.begin(), as_large_.end());
  const int longest = worst == as_large_.end() ? 0 : *worst;
  const int agreed = agree_on_largest(subsystems_.comm(), longest);
  if (last || agreed >= enough) {
    unit_sizes_.update();
  }
  if (agreed >= (last ? 1 : enough)) {
    explain(point);
  }
  if (diverged_ || agreed < enough) {
    return;
  }
  propagation_->write_floors(point, floors_);
  std::optional<std::string> text;
  for (std::size_t o = 0; o < as_large_.size() && !text; ++o) {
    const double error = last ? largest_[o] : std::abs(propagation_->outputs()[o].value);
    if (as_large_[o] >= enough && !driven_[o] && !hardly_begun(o) && error > floors_[o]) {
      text = described(o, error, point);
    }
  }
  diverged_ = agree_on_text(subsystems_.comm(), text);
}

std::string ErrorAccount::described(std::size_t output, double error,
                                    const CommunicationPoint& point) const {
  std::ostringstream text;
  text.precision(6);
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange range = subsystems_.outputs_of(k);
    if (output < range.first || output >= range.last) {
      continue;
    }
    const auto& description = subsystems_.own(k).description();
    text << "t = " << point.time << " s: the run has diverged: subsystem '" << description.name
         << "', output '" << description.outputs[output - range.first].name << "' is "
         << point.outputs[output].value << ", and the estimated error of it, " << error
         << ", is as large as the signal (up to " << scale_[output] << ")";
  }
  return text.str();
}

void ErrorAccount::io(Archive& archive) {
  archive(holds_, missing_, diverged_, disturbance_, span_, since_, interval_, freely_, estimated_,
          elapsed_, half_);
  archive.per(Per::output, largest_, scale_, as_large_, astray_, driven_, floors_, then_, before_);
  if (missing_) {
    propagation_.reset();
  }
  if (propagation_) {
    archive(*propagation_);
  }
}

std::vector<double> ErrorAccount::relative_errors() const {
  std::vector<double> relative(largest_.size(), no_number);
  if (missing_ || (propagation_ && !estimated_)) {
    return relative;
  }
  for (std::size_t o = 0; o < largest_.size(); ++o) {
    const double size = subsystems_.output_sizes()[o];
    relative[o] = largest_[o] > 0.0 && size > 0.0 ? largest_[o] / size : 0.0;
    relative[o] = driven_[o] ? no_number : relative[o];
  }
  for (const std::size_t o : signals_) {
    relative[o] = hardly_begun(o) ? no_number : relative[o];
  }
  return relative;
}

double ErrorAccount::in_tolerances(const Tolerance& tolerance) {
  const auto sizes = subsystems_.output_sizes().values();
  double worst = 0.0;
  for (std::size_t o = 0; o < largest_.size(); ++o) {
    if (sizes[o] > 0.0 && settled(o)) {
      worst = std::max(worst, largest_[o] / tolerance.of(sizes[o], sizes[o]));
    }
  }
  return agree_on_largest(subsystems_.comm(), worst);
}

}  // namespace concord
