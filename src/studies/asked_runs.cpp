#include "studies/asked_runs.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include "concord/errors.hpp"
#include "expression/expression_scan.hpp"
#include "simulation/run_quality.hpp"
#include "simulation/run_summary.hpp"
#include "simulation/simulation_core.hpp"
#include "support/agreement.hpp"
#include "support/options.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"

namespace concord {
TimeTable read_measurements(const std::string& path) {
  TimeTable table = read_table(path, "", Gaps::not_a_number);
  if (!means_time(table.time_name))
    throw InputError(path + ":1: no column is called 'time'; the first one is " +
                     in_quotes(table.time_name));
  if (table.names.empty())
    throw InputError(path +
                     ":1: has no column beside the time; give one for each variable that "
                     "was measured, called as in the model: left.x");
  for (std::size_t column = 0; column < table.names.size(); ++column)
    if (std::ranges::all_of(table.columns[column], [](double value) { return std::isnan(value); }))
      throw InputError(path + ":1: the column " + in_quotes(table.names[column]) +
                       " has no value at all; leave it out");
  return table;
}

std::size_t Questions::answers() const {
  return std::accumulate(tables.begin(), tables.end(), at_stop.size(),
                         [](std::size_t sum, const TimeTable& table) {
                           return sum + table.time.size() * table.names.size();
                         });
}

AskedRuns::AskedRuns(MPI_Comm comm, int ranks_per_run, const ModelSource& model,
                     const Options& options, std::vector<std::string> names, Questions questions)
    : comm_(comm), names_(std::move(names)), questions_(std::move(questions)) {
  if (ranks_per_run > ranks_of(comm))
    throw InputError("--ranks_per_run " + std::to_string(ranks_per_run) + " are more than the " +
                     std::to_string(ranks_of(comm)) + " ranks of the program");
  order_rows();
  groups_ = ranks_of(comm) / ranks_per_run;
  own_group_ = rank_in(comm) / ranks_per_run;
  MPI_Comm_split(comm, own_group_ < groups_ ? own_group_ : MPI_UNDEFINED, rank_in(comm), &group_);
  collectively(comm, [&] {
    if (group_ == MPI_COMM_NULL) return;
    simulation_ = std::make_unique<Simulation>(group_, model, options);
    find_variables();
  });
}

AskedRuns::~AskedRuns() {
  simulation_.reset();
  if (group_ != MPI_COMM_NULL) MPI_Comm_free(&group_);
}

void AskedRuns::order_rows() {
  for (std::size_t t = 0; t < questions_.tables.size(); ++t)
    for (std::size_t r = 0; r < questions_.tables[t].time.size(); ++r)
      rows_.push_back({questions_.tables[t].time[r], t, r});
  std::ranges::stable_sort(rows_, {}, &Row::time);
}

void AskedRuns::find_variables() {
  for (const std::string& name : questions_.at_stop)
    at_stop_.push_back(simulation_->variable(name));
  for (const TimeTable& table : questions_.tables) {
    columns_.emplace_back();
    for (const std::string& name : table.names)
      columns_.back().push_back(simulation_->variable(name));
    const double start = simulation_->time(), stop = simulation_->stop_time();
    for (const double time : {table.time.front(), table.time.back()})
      if (time < start || time > stop)
        throw InputError("a row of the data is at t = " + short_number(time) +
                         " s, outside the experiment from " + short_number(start) + " to " +
                         short_number(stop) +
                         " s; leave it out, or give -cosim_start or -cosim_stop");
  }
}

Changes AskedRuns::changes(const std::vector<double>& point) const {
  Changes result;
  for (std::size_t i = 0; i < names_.size(); ++i)
    result.push_back(names_[i] + "=" + exact_number(point[i]));
  return result;
}

void AskedRuns::read_rows(double* answers) {
  std::vector<double*> begins;
  for (const TimeTable& table : questions_.tables) {
    begins.push_back(answers);
    answers += table.time.size() * table.names.size();
  }
  for (const auto& [time, table, row] : rows_) {
    if (time > until_) break;
    if (time > simulation_->time()) simulation_->advance_until(time);
    const auto& columns = columns_[table];
    simulation_->values(columns, {begins[table] + row * columns.size(), columns.size()});
  }
}

void AskedRuns::answer(const std::vector<double>& point, double* answers) {
  simulation_->reset(changes(point));
  read_rows(answers + at_stop_.size());
  const bool on = !at_stop_.empty() && !simulation_->finished();
  if (on) simulation_->advance_until(simulation_->stop_time());
  if (!simulation_->end_reason().empty())
    throw SimulationError("the run ends before its stop: " + simulation_->end_reason());
  simulation_->values(at_stop_, {answers, at_stop_.size()});
  note_error();
}

void AskedRuns::note_error() {
  const RunQuality quality = quality_of(simulation_->core(), {});
  if (quality.of_range) {
    largest_error_ = std::max(largest_error_, *quality.of_range);
  } else if (unknown_.empty()) {
    unknown_ = quality.no_estimate.empty() ? "no estimate" : quality.no_estimate;
  }
}

Eigen::MatrixXd AskedRuns::at(const std::vector<std::vector<double>>& points) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(questions_.answers()),
                                                 static_cast<Eigen::Index>(points.size()));
  std::optional<std::string> failure, wrong;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool own = group_ != MPI_COMM_NULL &&
                     i % static_cast<std::size_t>(groups_) == static_cast<std::size_t>(own_group_);
    if (!own) continue;
    auto column = result.col(static_cast<Eigen::Index>(i));
    try {
      answer(points[i], column.data());
    } catch (const std::exception& error) {
      column.setConstant(std::numeric_limits<double>::quiet_NaN());
      auto& said = dynamic_cast<const InputError*>(&error) != nullptr ? wrong : failure;
      if (!said) said = joined(changes(points[i])) + ": " + error.what();
    }
    if (rank_in(group_) != 0) column.setZero();
  }
  agree_on_sum(comm_, {result.data(), static_cast<std::size_t>(result.size())});
  count_ += points.size();
  largest_error_ = agree_on_largest(comm_, largest_error_);
  unknown_ =
      agree_on_text(comm_, unknown_.empty() ? std::nullopt : std::optional(unknown_)).value_or("");
  for (const auto* said : {&wrong, &failure})
    if (const auto first = agree_on_text(comm_, *said); first && failure_.empty()) {
      failure_ = *first;
      wrong_input_ = said == &wrong;
    }
  return result;
}

void AskedRuns::rethrow_failure(const std::string& problem) const {
  if (failure_.empty()) return;
  if (wrong_input_) throw InputError(problem + failure_);
  throw SimulationError(problem + failure_);
}

}  // namespace concord
