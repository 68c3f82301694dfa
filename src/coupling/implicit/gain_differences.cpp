#include "coupling/implicit/gain_differences.hpp"

#include <algorithm>
#include <cmath>

#include "signal/sample_parts.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

/// Perturbation of a scaled unknown in the differenced Jacobian: well above the integrators' own
/// error, small enough for a Newton contraction of about the same size.
constexpr double difference_step = 1e-5;

PetscInt widest_of(const RankNetwork& subsystems, const SubsystemGains& gains) {
  int widest = 0;
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    widest = std::max(widest, static_cast<int>(gains.columns(k)));
  }
  return agree_on_largest(subsystems.comm(), widest);
}

}  // namespace

GainDifferences::GainDifferences(RankNetwork& subsystems, const ConstraintRows& constraints,
                                 const CouplingUnknowns& unknowns, CouplingEvaluation& evaluation,
                                 const StepAttempt& attempt, SubsystemGains& gains)
    : subsystems_(subsystems),
      constraints_(constraints),
      unknowns_(unknowns),
      evaluation_(evaluation),
      attempt_(attempt),
      gains_(gains),
      widest_(widest_of(subsystems, gains)) {}

/// How far a column's unknown is moved: in proportion to its size, or to the value where that is
/// larger.
double GainDifferences::increment(std::size_t k, std::size_t column) const {
  const std::size_t parts = unknowns_.parts();
  const std::size_t input = gains_.inputs(k)[column / parts];
  const auto& connected = subsystems_.connected_inputs();
  const auto j = static_cast<std::size_t>(
      std::lower_bound(connected.begin(), connected.end(), input) - connected.begin());
  const double entry = base_inputs_[input].*sample_parts[column % parts];
  // What an indirect constraint's unknown feeds reaches the outputs with h or h^2 only.
  const double reach = constraints_.begins_afresh(j) ? std::min(1.0, attempt_.h()) : 1.0;
  return difference_step / reach *
         std::max(unknowns_.scale()[j * parts + column % parts], std::abs(entry));
}

/// The column of every subsystem at once.
void GainDifferences::move_column(std::size_t column) {
  const std::size_t parts = unknowns_.parts();
  for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
    if (column < gains_.columns(k)) {
      Sample& sample = attempt_.trial->inputs[gains_.inputs(k)[column / parts]];
      sample.*sample_parts[column % parts] += increment(k, column);
    }
  }
}

/// The gains of a column that has been moved by `change`; false where one is not finite.
bool GainDifferences::take_column(std::size_t k, std::size_t column) {
  const std::size_t parts = unknowns_.parts();
  const std::size_t input = gains_.inputs(k)[column / parts];
  const auto part_of_input = sample_parts[column % parts];
  const double change =
      attempt_.trial->inputs[input].*part_of_input - base_inputs_[input].*part_of_input;
  const IndexRange outputs = subsystems_.outputs_of(k);
  bool finite = true;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const Sample& moved = attempt_.trial->outputs[outputs.first + o];
    const Sample& base = base_outputs_[outputs.first + o];
    for (std::size_t part = 0; part < parts; ++part) {
      const double gain = (moved.*sample_parts[part] - base.*sample_parts[part]) / change;
      finite = finite && std::isfinite(gain);
      gains_.own(k, o * parts + part, column) = gain;
    }
  }
  if (subsystems_.own(k).description().constraint) {
    correct_by_equation(k, column);
  }
  return finite;
}

/// What corrects an unknown is it, its own first input, less what is left of its equation: a
/// difference of their difference would have the digits of the one in the larger unit.
void GainDifferences::correct_by_equation(std::size_t k, std::size_t column) {
  const std::size_t parts = unknowns_.parts();
  for (std::size_t part = 0; part < parts; ++part) {
    gains_.own(k, constraint_corrected * parts + part, column) =
        (column == part ? 1.0 : 0.0) - gains_.at(k, constraint_residual * parts + part, column);
  }
}

/// A subsystem that could not be evaluated where its column was moved to: on the other side, or
/// nearer.
bool GainDifferences::difference_again(std::size_t k, std::size_t column) {
  const std::size_t parts = unknowns_.parts();
  const std::size_t input = gains_.inputs(k)[column / parts];
  for (const double part : {-1.0, 1e-2, -1e-2}) {
    attempt_.trial->inputs = base_inputs_;
    attempt_.trial->inputs[input].*sample_parts[column % parts] += part * increment(k, column);
    evaluation_.evaluate_alone(k);
    if (take_column(k, column)) {
      return true;
    }
  }
  return false;
}

bool GainDifferences::find() {
  base_outputs_ = attempt_.trial->outputs;
  base_inputs_ = attempt_.trial->inputs;
  bool complete = true;
  std::vector<std::size_t> again;
  for (std::size_t column = 0; column < static_cast<std::size_t>(widest_); ++column) {
    move_column(column);
    evaluation_.evaluate_each();
    again.clear();
    for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
      if (column < gains_.columns(k) && !take_column(k, column)) {
        again.push_back(k);
      }
    }
    for (const std::size_t k : again) {
      complete = difference_again(k, column) && complete;
    }
    attempt_.trial->inputs = base_inputs_;
  }
  return agree_on_largest(subsystems_.comm(), complete ? 0 : 1) == 0;
}

}  // namespace concord
