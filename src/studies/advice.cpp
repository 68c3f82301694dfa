#include "studies/advice.hpp"

#include <cmath>
#include <map>

namespace concord {
namespace {

/// Where the line through both points has this error.
Advice on_line(const WorkPoint& coarse, const WorkPoint& fine, double wanted, bool reached) {
  const double share = std::log(coarse.error / wanted) / std::log(coarse.error / fine.error);
  const auto at = [&](double a, double b) { return a * std::pow(b / a, share); };
  return {coarse.type, at(coarse.step, fine.step), at(coarse.work, fine.work), reached};
}

/// The cheapest of the runs that were good enough, and of the step at which the error becomes so.
std::optional<Advice> reached_by(const std::vector<WorkPoint>& points, double wanted) {
  std::optional<Advice> best;
  const auto consider = [&](const Advice& one) {
    if (!best || one.work < best->work) best = one;
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!(points[i].error <= wanted)) continue;
    consider({points[i].type, points[i].step, points[i].work, true});
    const bool crosses = i > 0 && std::isfinite(points[i - 1].error) &&
                         points[i - 1].error > wanted && points[i].error > 0.0;
    if (crosses) consider(on_line(points[i - 1], points[i], wanted, true));
  }
  return best;
}

std::optional<Advice> of_one(const std::vector<WorkPoint>& points, double wanted) {
  constexpr double least_gain = 1.2;  // below it, errors do not follow the step
  if (const auto reached = reached_by(points, wanted)) return reached;
  if (points.size() < 2) return std::nullopt;
  const WorkPoint &coarse = points[points.size() - 2], &fine = points.back();
  if (!(coarse.error > least_gain * fine.error)) return std::nullopt;
  return on_line(coarse, fine, wanted, false);
}

}  // namespace

std::optional<Advice> advice_for(double wanted, const std::vector<WorkPoint>& points) {
  std::map<std::string, std::vector<WorkPoint>> by_type;
  for (const WorkPoint& point : points) by_type[point.type].push_back(point);
  std::optional<Advice> best;
  for (const auto& [type, own] : by_type) {
    const auto found = of_one(own, wanted);
    if (!found) continue;
    const bool surer = best && found->reached != best->reached;
    if (!best || (surer ? found->reached : found->work < best->work)) best = found;
  }
  return best;
}

}  // namespace concord
