#include "studies/differences.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace concord {
namespace {

using Points = std::vector<std::vector<double>>;

constexpr std::size_t halvings = 3;
constexpr int attempts = 4;
constexpr double good = 1e-7;  ///< error of a derivative, of the derivative

std::vector<double> values_of(const std::vector<Varied>& at) {
  std::vector<double> values;
  for (const Varied& one : at) values.push_back(one.value);
  return values;
}

/// `middle` with the number moved.
std::vector<double> moved(std::vector<double> middle, std::size_t number, double by) {
  middle[number] += by;
  return middle;
}

/// Of one number: how far its points are from it, as they are when rounded.
std::array<double, halvings> steps_of(const Varied& number, double share) {
  std::array<double, halvings> steps{};
  for (double& step : steps) {
    step = number.value + share * number.size - number.value;
    share *= 0.5;
  }
  return steps;
}

/// Column by column the central differences with each step, extrapolated, and what that is wrong
/// by.
struct Extrapolated {
  Eigen::VectorXd slope, error;
};

Extrapolated extrapolated(const Eigen::MatrixXd& runs, const std::array<double, halvings>& steps) {
  std::array<Eigen::VectorXd, halvings> slopes;
  for (std::size_t i = 0; i < halvings; ++i) {
    const auto column = static_cast<Eigen::Index>(2 * i);
    slopes[i] = (runs.col(column) - runs.col(column + 1)) / (2.0 * steps[i]);
  }
  const Eigen::VectorXd coarse = (4.0 * slopes[1] - slopes[0]) / 3.0;
  const Eigen::VectorXd fine = (4.0 * slopes[2] - slopes[1]) / 3.0;
  const Eigen::VectorXd best = (16.0 * fine - coarse) / 15.0;
  return {best, (best - fine).cwiseAbs()};
}

/// Whether `error` is less than the one that was found before; anything is less than nothing known.
bool is_better(const Eigen::VectorXd& error, const Eigen::VectorXd& before) {
  return error.allFinite() && (!before.allFinite() || error.norm() < before.norm());
}

/// Derivatives that are being found, number by number.
class Search {
 public:
  Search(const std::vector<Varied>& at, const RunsAt& evaluate)
      : at_(at), middle_(values_of(at)), evaluate_(evaluate) {
    for (std::size_t number = 0; number < at.size(); ++number) open_.push_back(number);
  }

  Derivatives run() {
    double share = smallest_share * (1 << (halvings - 1));
    for (int attempt = 0; attempt < attempts && (attempt == 0 || !open_.empty()); ++attempt) {
      attempt_with(share);
      share *= 0.1;
    }
    return std::move(found_);
  }

 private:
  void attempt_with(double share) {
    const bool first = found_.values.size() == 0;
    Points points;
    if (first) points.push_back(middle_);
    for (const std::size_t number : open_)
      for (const double step : steps_of(at_[number], share))
        for (const double by : {step, -step}) points.push_back(moved(middle_, number, by));
    const Eigen::MatrixXd runs = evaluate_(points);
    if (first) begin(runs.col(0));
    Eigen::Index column = first ? 1 : 0;
    std::vector<std::size_t> left;
    for (const std::size_t number : open_) {
      constexpr auto width = static_cast<Eigen::Index>(2 * halvings);
      if (!take(number, runs.middleCols(column, width), share)) left.push_back(number);
      column += width;
    }
    open_ = std::move(left);
  }

  void begin(const Eigen::VectorXd& values) {
    const auto numbers = static_cast<Eigen::Index>(at_.size());
    found_.values = values;
    found_.by =
        Eigen::MatrixXd::Constant(values.size(), numbers, std::numeric_limits<double>::quiet_NaN());
    found_.errors = found_.by;
  }

  /// Whether nothing better is to be hoped for.
  bool take(std::size_t number, const Eigen::MatrixXd& runs, double share) {
    const auto column = static_cast<Eigen::Index>(number);
    const Extrapolated now = extrapolated(runs, steps_of(at_[number], share));
    const bool better = is_better(now.error, found_.errors.col(column));
    const bool known = found_.errors.col(column).allFinite();
    if (better) {
      found_.by.col(column) = now.slope;
      found_.errors.col(column) = now.error;
    }
    return (known && !better) || now.error.norm() <= good * now.slope.norm();
  }

  const std::vector<Varied>& at_;
  std::vector<double> middle_;
  const RunsAt& evaluate_;
  Derivatives found_;
  std::vector<std::size_t> open_;  ///< numbers whose derivatives are not good yet
};

}  // namespace

Derivatives differentiate(const std::vector<Varied>& at, const RunsAt& evaluate) {
  return Search(at, evaluate).run();
}

Derivatives differentiate_roughly(const std::vector<Varied>& at, const std::vector<double>& upper,
                                  const RunsAt& evaluate) {
  constexpr double share = 1e-4;
  const std::vector<double> middle = values_of(at);
  Points points{middle};
  for (std::size_t number = 0; number < at.size(); ++number) {
    const double step = share * at[number].size;
    points.push_back(moved(middle, number, middle[number] + step > upper[number] ? -step : step));
  }
  const Eigen::MatrixXd runs = evaluate(points);
  Derivatives found;
  found.values = runs.col(0);
  found.by.resize(runs.rows(), runs.cols() - 1);
  for (std::size_t number = 0; number < at.size(); ++number) {
    const auto column = static_cast<Eigen::Index>(number);
    found.by.col(column) =
        (runs.col(column + 1) - runs.col(0)) / (points[number + 1][number] - middle[number]);
  }
  return found;
}

}  // namespace concord
