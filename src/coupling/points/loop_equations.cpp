#include "coupling/points/loop_equations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "signal/sample_parts.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

/// States beyond which differences of the outputs are cheaper than a whole linearisation.
constexpr std::size_t most_states_to_linearize = 32;

std::size_t position(const std::vector<std::size_t>& ascending, std::size_t value) {
  return static_cast<std::size_t>(std::lower_bound(ascending.begin(), ascending.end(), value) -
                                  ascending.begin());
}

bool contains(const std::vector<std::size_t>& ascending, std::size_t value) {
  return std::binary_search(ascending.begin(), ascending.end(), value);
}

}  // namespace

LoopEquations::LoopEquations(RankNetwork& subsystems, const FeedthroughComponent& loop)
    : subsystems_(subsystems), text_(subsystems.network().describe_loop(loop)) {
  find_inputs(loop);
  find_own(loop);
  find_rows();
  find_entries();
  own_.g_u.resize(own_.subsystems.size());
}

void LoopEquations::find_inputs(const FeedthroughComponent& loop) {
  const Network& network = subsystems_.network();
  std::set<std::size_t> found;
  for (const std::size_t felt : loop.outputs) {
    for (const auto& [output, input] : network.feedthrough_to(felt)) {
      const auto& link = network.coupled_links()[input];
      if (link && contains(loop.outputs, link->output)) {
        found.insert(input);
      }
    }
  }
  inputs_.assign(found.begin(), found.end());
  for (const std::size_t input : inputs_) {
    const std::size_t k = network.subsystem_of_input(input);
    constraint_.push_back(network.constraint(k).has_value() && input == network.inputs_of(k).first);
  }
}

/// Which ranks take part, and with what.
void LoopEquations::find_own(const FeedthroughComponent& loop) {
  const Network& network = subsystems_.network();
  const int rank = rank_in(subsystems_.comm());
  std::set<std::size_t> members;
  for (const std::size_t output : loop.outputs) {
    members.insert(network.subsystem_of_output(output));
  }
  std::set<int> ranks;
  for (const std::size_t member : members) {
    const int owner = subsystems_.partition().rank_of(member);
    ranks.insert(owner);
    if (owner != rank) {
      continue;
    }
    own_.subsystems.push_back(subsystems_.local(member));
    const IndexRange range = network.inputs_of(member);
    for (std::size_t i = range.first; i < range.last; ++i) {
      if (contains(inputs_, i)) {
        own_.input_rows.push_back(position(inputs_, i));
        own_.inputs.push_back(subsystems_.local_input(i));
      }
    }
  }
  alone_ = ranks.size() == 1;
  here_ = !alone_ || !own_.subsystems.empty();
}

/// The row of a constraint's unknown is its equation, told by the constraint itself.
void LoopEquations::find_rows() {
  const Network& network = subsystems_.network();
  for (std::size_t row = 0; row < inputs_.size(); ++row) {
    const Link& link = *network.coupled_links()[inputs_[row]];
    const std::size_t from = network.subsystem_of_output(link.output);
    for (const std::size_t k : own_.subsystems) {
      if (subsystems_.global(k) == from) {
        own_.rows.push_back({row, k, subsystems_.local_output(link.output), link.factor,
                             link.offset, constraint_[row]});
      }
    }
  }
}

void LoopEquations::find_entries() {
  const Network& network = subsystems_.network();
  for (std::size_t row = 0; row < inputs_.size(); ++row) {
    const Link& link = *network.coupled_links()[inputs_[row]];
    const std::size_t from = network.subsystem_of_output(link.output);
    const std::size_t first_output = network.outputs_of(from).first;
    const std::size_t source = constraint_[row] ? first_output + constraint_residual : link.output;
    std::set<std::size_t> felt;
    std::set<std::size_t> columns{row};
    for (const auto& [output, input] : network.feedthrough_to(source)) {
      if (contains(inputs_, input)) {
        felt.insert(input);
        columns.insert(position(inputs_, input));
      }
    }
    for (const std::size_t column : columns) {
      for (const std::size_t k : own_.subsystems) {
        if (subsystems_.global(k) == from && felt.contains(inputs_[column])) {
          own_.entries.push_back({pattern_.columns.size(), k, source - first_output,
                                  inputs_[column] - network.inputs_of(from).first,
                                  constraint_[row] ? 1.0 : -link.factor, constraint_[row]});
        }
      }
      pattern_.columns.push_back(column);
    }
    pattern_.row_starts.push_back(pattern_.columns.size());
  }
}

const std::string& LoopEquations::name(std::size_t row) const {
  return subsystems_.network().input_names()[inputs_[row]];
}

/// Each entry comes from one rank, the others have 0: the sum is exact, and the same everywhere.
bool LoopEquations::shared(std::vector<double>& values, bool ok) const {
  if (alone_) {
    return ok;
  }
  values.push_back(ok ? 0.0 : 1.0);
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                subsystems_.comm());
  const bool all = values.back() == 0.0;
  values.pop_back();
  return all;
}

std::vector<double> LoopEquations::sizes() const {
  std::vector<double> result(size(), 0.0);
  for (std::size_t i = 0; i < own_.inputs.size(); ++i) {
    result[own_.input_rows[i]] = subsystems_.input_sizes()[own_.inputs[i]];
  }
  shared(result, true);
  return result;
}

void LoopEquations::read(std::span<const Sample> inputs, std::vector<Sample>& u) const {
  constexpr std::size_t parts = sample_parts.size();
  scratch_.message.assign(parts * size(), 0.0);
  for (std::size_t i = 0; i < own_.inputs.size(); ++i) {
    for (std::size_t part = 0; part < parts; ++part) {
      scratch_.message[parts * own_.input_rows[i] + part] =
          inputs[own_.inputs[i]].*sample_parts[part];
    }
  }
  shared(scratch_.message, true);
  u.resize(size());
  for (std::size_t row = 0; row < size(); ++row) {
    for (std::size_t part = 0; part < parts; ++part) {
      u[row].*sample_parts[part] = scratch_.message[parts * row + part];
    }
  }
}

void LoopEquations::write(std::span<const Sample> u, std::span<Sample> inputs) const {
  for (std::size_t i = 0; i < own_.inputs.size(); ++i) {
    inputs[own_.inputs[i]] = u[own_.input_rows[i]];
  }
}

bool LoopEquations::evaluate(PointEvaluation& point, Wanted wanted, std::span<const Sample> u,
                             std::span<Sample> inputs, std::span<Sample> outputs,
                             std::vector<Sample>& rows) {
  write(u, inputs);
  bool ok = true;
  for (const std::size_t k : own_.subsystems) {
    ok = ok && point.outputs(k, inputs, wanted, outputs) == Outcome::ok;
  }
  const std::size_t parts = static_cast<std::size_t>(wanted) + 1;
  scratch_.message.assign(parts * size(), 0.0);
  for (const Row& own : own_.rows) {
    const std::size_t gamma = subsystems_.outputs_of(own.subsystem).first + constraint_residual;
    const bool equation = own.constraint && point.solves_constraint(own.subsystem);
    const Sample& y = outputs[equation ? gamma : own.output];
    for (std::size_t part = 0; part < parts; ++part) {
      const double of_y = y.*sample_parts[part];
      const double fed = part == 0 ? own.factor * of_y + own.offset : own.factor * of_y;
      scratch_.message[parts * own.row + part] =
          equation ? of_y : u[own.row].*sample_parts[part] - fed;
    }
  }
  ok = shared(scratch_.message, ok);
  rows.resize(size());
  for (std::size_t row = 0; row < size(); ++row) {
    rows[row] = {};
    for (std::size_t part = 0; part < parts; ++part) {
      rows[row].*sample_parts[part] = scratch_.message[parts * row + part];
      ok = ok && std::isfinite(rows[row].*sample_parts[part]);
    }
  }
  return ok;
}

bool LoopEquations::outputs_at(std::size_t k, PointEvaluation& point,
                               std::span<const Sample> inputs, std::vector<double>& y) {
  const IndexRange range = subsystems_.outputs_of(k);
  scratch_.outputs.resize(subsystems_.n_outputs());
  if (point.outputs(k, inputs, Wanted::values, scratch_.outputs) != Outcome::ok) {
    return false;
  }
  y.resize(range.size());
  for (std::size_t o = 0; o < y.size(); ++o) {
    y[o] = scratch_.outputs[range.first + o].value;
  }
  return true;
}

/// The loop's columns of g_u by central differences, one-sided where g cannot be evaluated.
bool LoopEquations::difference(std::size_t k, PointEvaluation& point, std::span<const double> sizes,
                               std::span<Sample> inputs, std::vector<double>& g_u) {
  static const double relative = std::cbrt(std::numeric_limits<double>::epsilon());
  const IndexRange in = subsystems_.inputs_of(k);
  const std::size_t n_out = subsystems_.outputs_of(k).size();
  std::vector<double> above, below;
  g_u.assign(n_out * in.size(), 0.0);
  for (std::size_t i = 0; i < own_.inputs.size(); ++i) {
    const std::size_t input = own_.inputs[i];
    if (input < in.first || input >= in.last) {
      continue;
    }
    double& value = inputs[input].value;
    const double at = value;
    const double step = relative * std::max(std::abs(at), sizes[own_.input_rows[i]]);
    double high = value = at + step;
    const bool up = outputs_at(k, point, inputs, above);
    double low = value = at - step;
    const bool down = outputs_at(k, point, inputs, below);
    value = at;
    if (!up || !down) {
      (up ? low : high) = at;
      if (!(up || down) || !outputs_at(k, point, inputs, up ? below : above)) {
        return false;
      }
    }
    for (std::size_t o = 0; o < n_out; ++o) {
      g_u[o * in.size() + input - in.first] = (above[o] - below[o]) / (high - low);
    }
  }
  return true;
}

/// From own_.g_u of this rank.
void LoopEquations::fill(PointEvaluation& point, std::vector<double>& jacobian) const {
  jacobian.assign(pattern_.columns.size(), 0.0);
  for (const Row& own : own_.rows) {
    if (!own.constraint || !point.solves_constraint(own.subsystem)) {
      const auto first =
          pattern_.columns.begin() + static_cast<std::ptrdiff_t>(pattern_.row_starts[own.row]);
      const auto last =
          pattern_.columns.begin() + static_cast<std::ptrdiff_t>(pattern_.row_starts[own.row + 1]);
      jacobian[static_cast<std::size_t>(std::lower_bound(first, last, own.row) -
                                        pattern_.columns.begin())] = 1.0;
    }
  }
  for (const Entry& own : own_.entries) {
    if (!own.constraint || point.solves_constraint(own.subsystem)) {
      const std::size_t n_in = subsystems_.inputs_of(own.subsystem).size();
      jacobian[own.entry] +=
          own.factor *
          own_.g_u[position(own_.subsystems, own.subsystem)][own.output * n_in + own.input];
    }
  }
}

bool LoopEquations::linearize(PointEvaluation& point, std::span<const double> sizes,
                              std::span<Sample> inputs, std::vector<double>& jacobian) {
  bool ok = true;
  for (std::size_t member = 0; member < own_.subsystems.size(); ++member) {
    const std::size_t k = own_.subsystems[member];
    const bool cheap = subsystems_.states_of(k).size() <= most_states_to_linearize;
    if (!ok || (cheap && point.feedthrough(k, inputs, own_.g_u[member]))) {
      continue;
    }
    ok = difference(k, point, sizes, inputs, own_.g_u[member]);
  }
  if (ok) {
    fill(point, jacobian);
  }
  jacobian.resize(pattern_.columns.size());
  return shared(jacobian, ok);
}

bool LoopEquations::linearize(PointEvaluation& point, std::span<const Sample> inputs,
                              std::vector<double>& jacobian) {
  bool ok = true;
  for (std::size_t member = 0; member < own_.subsystems.size(); ++member) {
    ok = ok && point.feedthrough(own_.subsystems[member], inputs, own_.g_u[member]);
  }
  if (ok) {
    fill(point, jacobian);
  }
  jacobian.resize(pattern_.columns.size());
  return shared(jacobian, ok);
}

/// 1 for each input that has none.
std::vector<double> LoopEquations::missing_starts() const {
  std::vector<double> missing(size(), 0.0);
  for (std::size_t i = 0; i < own_.inputs.size(); ++i) {
    for (const std::size_t k : own_.subsystems) {
      const IndexRange range = subsystems_.inputs_of(k);
      if (own_.inputs[i] >= range.first && own_.inputs[i] < range.last) {
        const auto& variable =
            subsystems_.own(k).description().inputs[own_.inputs[i] - range.first];
        missing[own_.input_rows[i]] = variable.start ? 0.0 : 1.0;
      }
    }
  }
  shared(missing, true);
  return missing;
}

/// A constraint puts out its unknown as it is.
void LoopEquations::put_out(PointEvaluation& point, std::span<const Sample> inputs,
                            std::span<Sample> outputs) {
  for (const std::size_t k : own_.subsystems) {
    if (!subsystems_.own(k).description().constraint) {
      point.outputs(k, inputs, Wanted::values, outputs);
    } else {
      outputs[subsystems_.outputs_of(k).first + constraint_value] =
          inputs[subsystems_.inputs_of(k).first];
    }
  }
}

/// Twice: an input without start value may be behind another.
void LoopEquations::take_missing_starts(PointEvaluation& point, std::span<Sample> inputs,
                                        std::span<Sample> outputs) {
  const std::vector<double> missing = missing_starts();
  if (std::count(missing.begin(), missing.end(), 1.0) == 0) {
    return;
  }
  std::vector<Sample> u;
  for (int pass = 0; pass < 2; ++pass) {
    read(inputs, u);
    put_out(point, inputs, outputs);
    std::vector<double> fed(size(), 0.0);
    for (const Row& own : own_.rows) {
      if (!own.constraint) {
        fed[own.row] = own.factor * outputs[own.output].value + own.offset;
      }
    }
    shared(fed, true);
    for (std::size_t row = 0; row < size(); ++row) {
      if (missing[row] != 0.0 && std::isfinite(fed[row])) {
        u[row].value = fed[row];
      }
    }
    write(u, inputs);
  }
}

}  // namespace concord
