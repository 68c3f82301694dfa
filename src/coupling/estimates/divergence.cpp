#include "coupling/estimates/divergence.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "coupling/estimates/error_propagation.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

/// Intervals in a row with errors as large as the signal, for a verdict; fewer at the end.
constexpr int for_a_verdict = 10;
constexpr int at_the_end = 3;

/// Times that a signal has been, with an error as large as itself: far off.
constexpr double far_off = 10.0;

}  // namespace

Divergence::Divergence(RankNetwork& subsystems, std::vector<std::size_t> signals,
                       const SettledSignals& settled, const std::vector<double>& largest,
                       const SignalRanges& ranges)
    : subsystems_(subsystems),
      signals_(std::move(signals)),
      settled_(settled),
      largest_(largest),
      ranges_(ranges),
      unit_sizes_(subsystems),
      scale_(subsystems.n_outputs(), 0.0),
      as_large_(subsystems.n_outputs(), 0),
      driven_(subsystems.n_outputs(), 0),
      floors_(subsystems.n_outputs(), 0.0) {}

void Divergence::start(const CommunicationPoint& point) {
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange range = subsystems_.outputs_of(k);
    for (std::size_t o = 0; o < range.size(); ++o) {
      const double nominal = subsystems_.own(k).description().outputs[o].nominal;
      scale_[range.first + o] =
          std::max(std::abs(nominal), std::abs(point.outputs[range.first + o].value));
    }
  }
}

bool Divergence::is_seen(std::size_t output, double value) const {
  constexpr double hardly_anything = 1e-9;
  return value > hardly_anything * unit_sizes_[output];
}

bool Divergence::hardly_begun(std::size_t output) const {
  return !settled_.settled(output) &&
         !is_seen(output, std::max(subsystems_.output_sizes()[output], largest_[output]));
}

/// Terms that cancel leave their rounding, many times over; floors are a millionth of them. What
/// has no error is none the less known.
bool Divergence::is_rounding(std::size_t output) const {
  constexpr double of_floor = 1e-6;
  const double size = subsystems_.output_sizes()[output];
  return largest_[output] > 0.0 && size > 0.0 && size <= of_floor * floors_[output];
}

/// What the signal would be without its error is its scale, where the error is the smaller part.
void Divergence::compare(const CommunicationPoint& point, std::span<const Sample> errors) {
  constexpr double small_part = 0.5;
  for (const std::size_t o : signals_) {
    const double error = std::abs(errors[o].value);
    const double truth = std::abs(point.outputs[o].value - errors[o].value);
    if (error < small_part * truth) {
      scale_[o] = std::max(scale_[o], truth);
    }
    const bool as_large = error >= std::max(scale_[o], truth) ||
                          (error >= small_part * truth && error >= far_off * scale_[o]);
    as_large_[o] = scale_[o] > 0.0 && as_large ? as_large_[o] + 1 : 0;
    // An excuse holds as long as there is something to be excused.
    if (as_large_[o] == 0) driven_[o] = 0;
  }
}

/// Which outputs' errors nothing sound explains, and which are signals that still rise from
/// nothing. Sound is what is known to a tenth: in what explodes nothing is.
void Divergence::explain(const CommunicationPoint& point, double elapsed,
                         ErrorPropagation& propagation) {
  constexpr double known = 0.1;
  const auto errors = propagation.outputs();
  std::vector<int> astray(as_large_.size());
  for (std::size_t o = 0; o < astray.size(); ++o) {
    const double error = std::abs(errors[o].value);
    astray[o] = as_large_[o] > 0 || error > known * std::abs(point.outputs[o].value) ? 1 : 0;
  }
  propagation.excuse_driven(point, elapsed, scale_, astray);
  for (std::size_t o = 0; o < astray.size(); ++o) {
    driven_[o] =
        as_large_[o] > 0 && astray[o] == 0 && std::abs(errors[o].value) >= far_off * scale_[o];
  }
}

/// At the end of a run whatever has ever been as large as the signal counts; of signals that have
/// settled, and of those that have left what they were, as what is left of the signal without it,
/// or as half of what it has gone through.
void Divergence::recall() {
  const auto sizes = subsystems_.output_sizes().values();
  for (const std::size_t o : signals_) {
    const bool known = settled_.settled(o) || sizes[o] >= far_off * scale_[o];
    const double left = known ? sizes[o] - largest_[o] : sizes[o];
    const bool half_of_range = known && largest_[o] >= 0.5 * ranges_.size(o, sizes[o]);
    if (sizes[o] > 0.0 && (largest_[o] >= left || half_of_range)) {
      as_large_[o] = std::max(as_large_[o], at_the_end);
    }
  }
}

void Divergence::judge(const CommunicationPoint& point, double elapsed,
                       ErrorPropagation& propagation, bool last) {
  compare(point, propagation.outputs());
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
    explain(point, elapsed, propagation);
  }
  if (last || (!found_ && agreed >= enough)) {
    propagation.write_floors(point, floors_);
  }
  if (found_ || agreed < enough) {
    return;
  }
  tell(point, enough, [&](std::size_t o) {
    return last ? largest_[o] : std::abs(propagation.outputs()[o].value);
  });
}

void Divergence::judge_whole(const CommunicationPoint& point) {
  recall();
  tell(point, at_the_end, [&](std::size_t o) { return largest_[o]; });
}

template <class ErrorOf>
void Divergence::tell(const CommunicationPoint& point, int enough, const ErrorOf& error_of) {
  std::optional<std::string> text;
  for (std::size_t o = 0; o < as_large_.size() && !text; ++o) {
    const double error = error_of(o);
    if (as_large_[o] >= enough && !driven_[o] && !hardly_begun(o) && error > floors_[o]) {
      text = described(o, error, point);
    }
  }
  found_ = agree_on_text(subsystems_.comm(), text);
}

std::string Divergence::described(std::size_t output, double error,
                                  const CommunicationPoint& point) const {
  std::ostringstream text;
  text.precision(6);
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange range = subsystems_.outputs_of(k);
    if (output < range.first || output >= range.last) {
      continue;
    }
    const Network& network = subsystems_.network();
    const std::size_t global = network.outputs_of(subsystems_.global(k)).first;
    const std::string& full_name = network.output_names()[global + output - range.first];
    const std::string& owner = subsystems_.name(k);
    const auto dot = full_name.starts_with(owner + ".") ? owner.size() : full_name.rfind('.');
    text << "t = " << point.time << " s: the run has diverged: subsystem '"
         << full_name.substr(0, dot) << "', output '" << full_name.substr(dot + 1) << "' is "
         << point.outputs[output].value << ", and the estimated error of it, " << error
         << ", is as large as the signal (up to " << scale_[output] << ")";
  }
  return text.str();
}

}  // namespace concord
