#include "studies/data_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "concord/errors.hpp"
#include "support/name_patterns.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// Of all values of a variable; 1 where they are all one.
double spread_of(const std::vector<TimeTable>& tables, const std::string& name) {
  double smallest = std::numeric_limits<double>::infinity(), largest = -smallest;
  for (const TimeTable& table : tables)
    for (std::size_t column = 0; column < table.names.size(); ++column)
      if (table.names[column] == name)
        for (const double value : table.columns[column]) {
          smallest = std::min(smallest, value);
          largest = std::max(largest, value);
        }
  return largest > smallest ? largest - smallest : 1.0;
}

}  // namespace

DataFit::DataFit(std::vector<FreeNumber> free, const std::vector<TimeTable>& tables,
                 const std::map<std::string, double>& deviations, AskedRuns& runs)
    : free_(std::move(free)), runs_(runs) {
  for (const TimeTable& table : tables) take(table);
  for (MeasuredVariable& variable : variables_) {
    const auto known = deviations.find(variable.name);
    variable.known = known != deviations.end();
    variable.spread = spread_of(tables, variable.name);
    variable.deviation = variable.known ? known->second : variable.spread;
  }
  const std::vector<std::string> names = names_of(variables_);
  for (const auto& [name, deviation] : deviations)
    if (std::ranges::find(names, name) == names.end())
      throw InputError("--deviation " + name + "=" + short_number(deviation) +
                       ": the data have no such variable; " + nearest_names(name, names));
  if (data_.size() <= free_.size())
    throw InputError("the data have " + std::to_string(data_.size()) + " values, too few for " +
                     std::to_string(free_.size()) + " numbers and how sure they are");
}

void DataFit::take(const TimeTable& table) {
  std::vector<std::size_t> variables;
  for (const std::string& name : table.names) {
    const auto found = std::ranges::find(variables_, name, &MeasuredVariable::name);
    variables.push_back(static_cast<std::size_t>(found - variables_.begin()));
    if (found == variables_.end()) variables_.push_back({.name = name});
  }
  for (std::size_t row = 0; row < table.time.size(); ++row) {
    for (std::size_t column = 0; column < variables.size(); ++column, ++answers_) {
      const double value = table.columns[column][row];
      if (std::isnan(value)) continue;
      data_.push_back({table.time[row], value, variables[column], answers_});
      ++variables_[variables[column]].values;
    }
  }
}

std::vector<Varied> DataFit::varied(const std::vector<double>& numbers) const {
  std::vector<Varied> result;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double own = numbers[i] == 0.0 ? free_[i].size() : std::abs(numbers[i]);
    result.push_back({numbers[i], std::min(own, free_[i].size())});
  }
  return result;
}

Residuals DataFit::weighted(const Derivatives& found) const {
  const auto rows = static_cast<Eigen::Index>(data_.size());
  Residuals result{Eigen::VectorXd(rows), Eigen::MatrixXd(rows, found.by.cols())};
  for (Eigen::Index row = 0; row < rows; ++row) {
    const Datum& one = data_[static_cast<std::size_t>(row)];
    const double weight = one.time > until_ ? 0.0 : 1.0 / variables_[one.variable].deviation;
    result.values[row] = weight * (found.values[one.answer] - one.value);
    result.by.row(row) = weight * found.by.row(one.answer);
  }
  return result;
}

Residuals DataFit::rough(const std::vector<double>& numbers) {
  std::vector<double> upper;
  for (const FreeNumber& one : free_) upper.push_back(one.upper);
  return weighted(differentiate_roughly(
      varied(numbers), upper,
      [&](const std::vector<std::vector<double>>& points) { return runs_.at(points); }));
}

Derivatives DataFit::exact(const std::vector<double>& numbers) {
  return differentiate(varied(numbers), [&](const std::vector<std::vector<double>>& points) {
    return runs_.at(points);
  });
}

/// Whether the deviations that are estimated are other ones now, and some are more than rounding.
bool DataFit::reweigh(const Eigen::VectorXd& answers) {
  std::vector<double> squares(variables_.size(), 0.0);
  for (const Datum& one : data_) {
    const double off = answers[one.answer] - one.value;
    squares[one.variable] += off * off;
  }
  const auto all = static_cast<double>(data_.size());
  const double free = all / (all - static_cast<double>(free_.size()));
  bool other = false, exact = true;
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    MeasuredVariable& variable = variables_[v];
    const double mean = squares[v] / static_cast<double>(variable.values);
    variable.residual = std::sqrt(mean);
    if (variable.known) continue;
    constexpr double rounding = 1e-8, stays = 0.005;
    const double smallest = rounding * variable.spread;
    const double now = std::max(std::sqrt(free * mean), smallest);
    exact = exact && now == smallest;
    other = other || std::abs(now - variable.deviation) > stays * variable.deviation;
    variable.deviation = now;
  }
  return other && !exact;
}

void DataFit::improve(LeastSquares& found, double settled) {
  runs_.ask_until(until_);
  const int before = found.iterations;
  found = least_squares(
      free_, [&](const std::vector<double>& numbers) { return rough(numbers); }, settled);
  found.iterations += before;
  for (std::size_t i = 0; i < free_.size(); ++i) free_[i].start = found.numbers[i];
}

/// With an eighth, a quarter and half of the time, where these have rows enough.
void DataFit::approach(LeastSquares& found) {
  constexpr double settled = 1e-2;
  const auto [first, last] = std::ranges::minmax(data_, {}, &Datum::time);
  for (const double share : {0.125, 0.25, 0.5}) {
    until_ = first.time + share * (last.time - first.time);
    const auto rows = static_cast<std::size_t>(
        std::ranges::count_if(data_, [&](const Datum& one) { return one.time <= until_; }));
    if (rows > 2 * free_.size()) improve(found, settled);
  }
  until_ = last.time;
}

FittedNumbers DataFit::find() {
  FittedNumbers found;
  approach(found.least);
  constexpr double settled = 1e-6;
  constexpr int most_weights = 5;
  for (int pass = 0; pass < most_weights; ++pass) {
    improve(found.least, settled);
    found.answers = runs_.at({found.least.numbers}).col(0);
    if (!reweigh(found.answers) || variables_.size() == 1) break;
  }
  const bool known = std::ranges::all_of(variables_, &MeasuredVariable::known);
  found.confidence = confidence_of(free_, found.least.numbers, weighted(exact(found.least.numbers)),
                                   known ? Deviations::known : Deviations::estimated);
  found.variables = variables_;
  return found;
}

}  // namespace concord
