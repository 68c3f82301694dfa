#include "subsystem/delay/signal_past.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace concord {
namespace {

/// How many times the jumps that holds make between pieces a break is larger.
constexpr double doubt = 10.0;

/// What the coupling leaves of a signal's joints, of its magnitude: what is smaller does no harm.
constexpr double noise = 1e-5;

std::array<double, 3> derivatives(const Polynomial& u, double tau) {
  return {u(tau), u.derivative(tau), u.curvature(tau)};
}

}  // namespace

void SignalPast::start(double value) {
  before_ = value;
  pieces_.clear();
  first_ = 0;
}

void SignalPast::append(double begin, double h, const Polynomial& polynomial, bool fresh) {
  while (pieces_.size() > first_ && pieces_.back().begin >= begin) pieces_.pop_back();
  const Jumps jumps = jumps_before(derivatives(polynomial, 0.0));
  constexpr Jumps unseen{0.0, 0.0, std::numeric_limits<double>::infinity()};
  const Jumps joints = pieces() == 0 ? Jumps{} : pieces_.back().joints;
  const Spans spans = pieces() == 0 ? Spans{h, h} : spans_with(h);
  const double size =
      std::max(pieces() == 0 ? std::abs(before_) : pieces_.back().size, std::abs(polynomial(h)));
  pieces_.push_back({begin, h, spans.longest, polynomial,
                     fresh && stands_out(jumps, joints, spans, size),
                     fresh ? (pieces() == 0 ? unseen : joints) : jumps, size});
}

void SignalPast::end_by_event() {
  constexpr double hardly_any = 1e-5, steeper = 1e3;
  if (pieces() == 0) return;
  Piece& last = pieces_.back();
  const double elapsed = last.begin + last.h, left = last.polynomial(0.0);
  const double change = std::abs(last.polynomial(last.h) - left);
  double slope = last.size / elapsed;
  if (pieces() > 1) {
    const Piece& before = pieces_[pieces_.size() - 2];
    slope += std::abs(before.polynomial.derivative(before.h));
  }
  if (last.h < hardly_any * elapsed && change > noise * last.size &&
      change > steeper * slope * last.h)
    last.polynomial = Polynomial{.c = {left}};
}

/// Half of the longest is left with each macro-step, so that it follows a change to shorter ones.
SignalPast::Spans SignalPast::spans_with(double h) const {
  const Piece& last = pieces_.back();
  return {std::min(h, last.h), std::max(h, 0.5 * last.longest)};
}

SignalPast::Jumps SignalPast::jumps_before(const Jumps& next) const {
  Jumps jumps = pieces() == 0 ? Jumps{before_, 0.0, 0.0}
                              : derivatives(pieces_.back().polynomial, pieces_.back().h);
  for (std::size_t i = 0; i < jumps.size(); ++i) jumps[i] = std::abs(next[i] - jumps[i]);
  return jumps;
}

/// What a slope does harm by is what it makes of a usual macro-step that passes over it, however
/// short those around the break are. A curvature is known no better than values over the shorter.
bool SignalPast::stands_out(std::span<const double> jumps, const Jumps& joints, const Spans& spans,
                            double size) {
  const double least = noise * size;
  const Jumps harmless{least, least / spans.longest, least / (spans.shorter * spans.shorter)};
  for (std::size_t i = 0; i < jumps.size(); ++i)
    if (jumps[i] > doubt * joints[i] + harmless[i]) return true;
  return false;
}

bool SignalPast::jumps_to(double value) const {
  const Jumps jumps = jumps_before({value, 0.0, 0.0});
  const std::span<const double> of_value(jumps.data(), 1);
  if (pieces() == 0)
    return stands_out(of_value, {}, {1.0, 1.0}, std::max(std::abs(before_), std::abs(value)));
  const Piece& last = pieces_.back();
  return stands_out(of_value, last.joints, {last.h, last.h}, std::max(last.size, std::abs(value)));
}

/// Moves the rest to the front when it is the smaller half, so that a piece moves once at most.
void SignalPast::forget(double begin) {
  while (first_ < pieces_.size() && pieces_[first_].begin + pieces_[first_].h < begin) ++first_;
  if (2 * first_ <= pieces_.size()) return;
  pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(first_));
  first_ = 0;
}

/// The last piece that does not begin behind the point; the first one without any.
std::size_t SignalPast::piece_at(double point) const {
  const auto begin = pieces_.begin() + static_cast<std::ptrdiff_t>(first_);
  const auto behind = std::upper_bound(
      begin, pieces_.end(), point, [](double t, const Piece& piece) { return t < piece.begin; });
  return static_cast<std::size_t>((behind == begin ? begin : behind - 1) - pieces_.begin());
}

Sample SignalPast::at(double point, double arrived, double rounding) const {
  const double reach = std::max(point + rounding, arrived);
  if (pieces() == 0 || reach < pieces_[first_].begin) return {before_, 0.0};
  std::size_t i = piece_at(reach);
  if (pieces_[i].breaks && point <= pieces_[i].begin + rounding && pieces_[i].begin > arrived) {
    if (i == first_) return {before_, 0.0};
    --i;
  }
  const Piece& piece = pieces_[i];
  return piece.polynomial.at(std::clamp(point - piece.begin, 0.0, piece.h));
}

std::optional<double> SignalPast::next_break(double point) const {
  const auto begin = pieces_.begin() + static_cast<std::ptrdiff_t>(first_);
  const auto behind = std::upper_bound(
      begin, pieces_.end(), point, [](double t, const Piece& piece) { return t < piece.begin; });
  const auto found =
      std::find_if(behind, pieces_.end(), [](const Piece& piece) { return piece.breaks; });
  return found == pieces_.end() ? std::nullopt : std::optional(found->begin);
}

}  // namespace concord
