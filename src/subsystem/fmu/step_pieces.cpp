#include "subsystem/fmu/step_pieces.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace concord {

namespace {

/// Fraction of the macro-step between samples where the FMU takes varying inputs.
constexpr double sample_fraction = 0.05;

/// Length of the piece that refreshes direct feedthrough, beside a micro-step.
constexpr double refresh_fraction = 1e-3;

/// Where the inputs of the piece's end are needed for direct feedthrough: shortly before the end,
/// or one internal step before it.
double refresh_from(double left, double right, const PieceSettings& settings) {
  const double fixed = settings.fixed_internal_step;
  if (fixed > 0.0) return right - left > 1.5 * fixed ? right - fixed : left;
  return right - refresh_fraction * (right - left);
}

void add_held(double left, double right, double begin, bool refresh, const PieceSettings& settings,
              std::vector<StepPiece>& pieces) {
  const double split = refresh ? refresh_from(left, right, settings) : right;
  if (settings.input_order > 0) {
    if (split > left) pieces.push_back({left, std::min(split, right), {}, {}});
    if (split < right) pieces.push_back({std::max(split, left), right, {}, {}});
    return;
  }
  const double middle = 0.5 * (left + right) - begin;
  if (split > left) pieces.push_back({left, std::min(split, right), middle, {}});
  if (split < right) pieces.push_back({std::max(split, left), right, right - begin, {}});
}

/// Whether a signal, which is nearly at rest but for one of the intervals between the samples,
/// jumps there.
bool jumps(const std::array<double, 4>& y) {
  constexpr double much = 8.0, hardly_any = 1e-3;
  double largest = 0.0, all = 0.0, size = std::abs(y[0]);
  for (std::size_t k = 1; k < y.size(); ++k) {
    const double change = std::abs(y[k] - y[k - 1]);
    largest = std::max(largest, change);
    all += change;
    size = std::max(size, std::abs(y[k]));
  }
  return largest > much * (all - largest) && largest > hardly_any * size;
}

}  // namespace

PieceSettings piece_settings(const FmuUse& use, bool feedthrough) {
  return {takes_cubics(use) ? 1 : use.micro_steps, use.input_order, use.variable_steps,
          use.internal_step, feedthrough};
}

double cut_into_pieces(const MacroStep& step, bool constant, bool by_differences,
                       const PieceSettings& settings, std::vector<StepPiece>& pieces) {
  pieces.clear();
  const bool holds = !constant && settings.micro_steps > 1 && settings.variable_steps;
  if (!holds && !by_differences) {
    pieces.push_back({step.begin, step.end, {}, {}});
    return step.size();
  }
  const int wanted = std::max(settings.micro_steps, by_differences ? sampled_ends : 1);
  double distance = holds ? step.size() / wanted : sample_fraction * step.size();
  if (settings.fixed_internal_step > 0.0)
    distance = std::max(1.0, std::round(distance / settings.fixed_internal_step)) *
               settings.fixed_internal_step;
  const int available = static_cast<int>(step.size() / distance + 1e-6);
  const int count = std::max(1, holds ? available : std::min(available, sampled_ends));
  double left = step.begin;
  for (int k = 1; k <= count; ++k) {
    const double right = k == count ? step.end : step.end - (count - k) * distance;
    const int sample = k - 1 - (count - sampled_ends);
    const bool sampled = by_differences && sample >= 0;
    if (holds)
      add_held(left, right, step.begin, settings.feedthrough && (sampled || k == count), settings,
               pieces);
    else
      pieces.push_back({left, right, {}, {}});
    if (sampled) pieces.back().sample = sample;
    left = right;
  }
  return distance;
}

std::vector<StepPiece> pieces_to(double left, double right, double begin,
                                 const PieceSettings& settings) {
  std::vector<StepPiece> pieces;
  if (settings.micro_steps > 1)
    add_held(left, right, begin, settings.feedthrough, settings, pieces);
  else
    pieces.push_back({left, right, {}, {}});
  return pieces;
}

void slopes_at_end(const std::vector<std::vector<double>>& y, double distance,
                   std::span<double> slopes) {
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    const bool across = jumps({y[0][i], y[1][i], y[2][i], y[3][i]});
    slopes[i] =
        across ? 0.0
               : (11 * (y[3][i] - y[0][i]) - 18 * (y[2][i] - y[0][i]) + 9 * (y[1][i] - y[0][i])) /
                     (6 * distance);
  }
}

/// By the quartic; 0 where that is no more than rounding of what it is made of, or than it is away
/// from the cubic's: what rises like a power of time has no slope where it begins, and another one,
/// however small, would be taken for its size.
void slopes_at_start(std::span<const double> y, const std::vector<std::vector<double>>& samples,
                     double distance, std::span<double> slopes) {
  constexpr double rounding = 4.0 * std::numeric_limits<double>::epsilon();
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    const auto rise = [&](std::size_t k) { return samples[k][i] - y[i]; };
    const double quartic = 48 * rise(0) - 36 * rise(1) + 16 * rise(2) - 3 * rise(3);
    const double cubic = 36 * rise(0) - 18 * rise(1) + 4 * rise(2);
    double most = std::abs(y[i]);
    for (const auto& sample : samples) most = std::max(most, std::abs(sample[i]));
    const bool told = std::abs(quartic) > std::max(48 * rounding * most, std::abs(quartic - cubic));
    slopes[i] = told ? quartic / (12 * distance) : 0.0;
  }
}

}  // namespace concord
