#include "coupling/points/input_elimination.hpp"

#include <algorithm>

namespace concord {

InputElimination::InputElimination(const RankNetwork& subsystems) {
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    n_states_.push_back(subsystems.states_of(k).size());
    inputs_of_.push_back(subsystems.inputs_of(k));
  }
  find_rows(subsystems);
  find_entries(subsystems);
  values_.resize(columns_.size());
  right_.resize(rows_.size());
  solution_.resize(rows_.size());
}

void InputElimination::find_rows(const RankNetwork& subsystems) {
  const Network& network = subsystems.network();
  fed_by_.resize(subsystems.n_own());
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const IndexRange inputs = network.inputs_of(k);
    for (std::size_t i = inputs.first; i < inputs.last; ++i) {
      if (const auto& link = network.links()[i]) {
        const std::size_t from = network.subsystem_of_output(link->output);
        fed_by_[from].push_back(rows_.size());
        rows_.push_back(
            {i, link->output - network.outputs_of(from).first, link->output, link->factor});
      }
    }
  }
}

/// By the structure of g_u.
void InputElimination::find_entries(const RankNetwork& subsystems) {
  const Network& network = subsystems.network();
  constexpr auto none = static_cast<std::size_t>(-1);
  std::vector<std::size_t> row_of(network.n_inputs(), none);
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    row_of[rows_[row].input] = row;
  }
  std::vector<std::vector<std::size_t>> felt(network.n_outputs());
  for (const auto& [output, input] : network.feedthrough()) {
    if (row_of[input] != none) {
      felt[output].push_back(row_of[input]);
    }
  }
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const std::size_t output = network.links()[rows_[row].input]->output;
    const std::size_t from = network.subsystem_of_output(output);
    const IndexRange in = network.inputs_of(from);
    std::vector<std::size_t> columns = felt[output];
    columns.push_back(row);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    const auto place_of = [&](std::size_t column) {
      const auto found = std::lower_bound(columns.begin(), columns.end(), column);
      return columns_.size() + static_cast<std::size_t>(found - columns.begin());
    };
    diagonal_.push_back(place_of(row));
    for (const std::size_t column : felt[output]) {
      entries_.push_back({place_of(column), from,
                          rows_[row].output * in.size() + rows_[column].input - in.first,
                          -rows_[row].factor});
    }
    columns_.insert(columns_.end(), columns.begin(), columns.end());
    row_starts_.push_back(columns_.size());
  }
}

bool InputElimination::take(std::span<const OutputDerivatives> of) {
  std::fill(values_.begin(), values_.end(), 0.0);
  for (const std::size_t place : diagonal_) {
    values_[place] = 1.0;
  }
  for (const Entry& entry : entries_) {
    values_[entry.place] += entry.factor * of[entry.subsystem].g_u[entry.derivative];
  }
  return entries_.empty() || factors_.compute(row_starts_, columns_, values_);
}

/// Outputs of subsystem k move as column `place` of `by` says, row-major with `count` columns;
/// whether any that feeds something does.
bool InputElimination::move(std::size_t k, std::span<const double> by, std::size_t count,
                            std::size_t place) {
  std::fill(right_.begin(), right_.end(), 0.0);
  bool any = false;
  for (const std::size_t row : fed_by_[k]) {
    right_[row] = rows_[row].factor * by[rows_[row].output * count + place];
    any = any || right_[row] != 0.0;
  }
  return any;
}

void InputElimination::put_out(std::span<double> du) {
  if (!entries_.empty()) {
    factors_.solve(right_, solution_);
  }
  const std::vector<double>& values = entries_.empty() ? right_ : solution_;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    du[rows_[row].input] = values[row];
  }
}

void InputElimination::follow(std::span<const OutputDerivatives> of, std::size_t k,
                              std::size_t state, std::span<double> du) {
  std::fill(du.begin(), du.end(), 0.0);
  if (move(k, of[k].g_x, n_states_[k], state)) put_out(du);
}

void InputElimination::follow_input(std::span<const OutputDerivatives> of, std::size_t input,
                                    std::span<double> du) {
  std::fill(du.begin(), du.end(), 0.0);
  const auto owner = std::ranges::upper_bound(inputs_of_, input, {}, &IndexRange::last);
  const auto k = static_cast<std::size_t>(owner - inputs_of_.begin());
  if (move(k, of[k].g_u, owner->size(), input - owner->first)) put_out(du);
  du[input] = 1.0;
}

void InputElimination::follow_outputs(std::span<const double> dy, std::span<double> du) {
  std::fill(du.begin(), du.end(), 0.0);
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    right_[row] = rows_[row].factor * dy[rows_[row].local_output];
  }
  put_out(du);
}

}  // namespace concord
