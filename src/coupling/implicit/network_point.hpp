#pragma once

#include <exception>
#include <span>
#include <string>
#include <vector>

#include "concord/errors.hpp"
#include "coupling/point_evaluation.hpp"
#include "support/exception_words.hpp"

namespace concord {

/// A time and states of the whole network, not only those at which its subsystems stand; outputs,
/// and the inputs that were found to fit them. For a RankNetwork that holds every subsystem; what
/// stands for a constraint has no states and is the same at any time.
class NetworkPoint : public PointEvaluation {
 public:
  explicit NetworkPoint(RankNetwork& subsystems);

  /// Where the outputs are evaluated from now on; whoever calls keeps the states.
  void stand_at(double t, std::span<const double> x);
  /// The states move like that from now on.
  void move_by(std::span<const double> dxdt);
  /// The inputs that were found; slopes only where they are wanted. Whole local array.
  void take(std::span<const Sample> inputs, Wanted wanted);

  std::span<const double> states() const { return x_; }
  std::span<const double> states_of(std::size_t k) const { return part(x_, k); }
  std::span<const double> inputs_of(std::size_t k) const;
  Motion motion_of(std::size_t k) const;
  /// Since `move_by`: whether all subsystems gave their part of outputs' slopes.
  bool slopes_given() const { return slopes_given_; }
  bool stands_for_constraint(std::size_t k) const;

  /// Calls a subsystem's equations, whose failures don't know whose they are.
  template <class Call>
  void naming(std::size_t k, Call&& call) {
    try {
      call(*subsystems_.own(k).equations());
    } catch (const RecoverableFailure& failure) {
      throw RecoverableFailure(named(k, failure.what()));
    } catch (...) {
      throw SimulationError(named(k, in_words(std::current_exception())));
    }
  }

  Outcome outputs(std::size_t k, std::span<const Sample> inputs, Wanted wanted,
                  std::span<Sample> outputs) override;
  bool feedthrough(std::size_t k, std::span<const Sample> inputs,
                   std::vector<double>& g_u) override;
  double time() const override { return t_; }

 private:
  std::span<const double> part(std::span<const double> of_states, std::size_t k) const;
  std::string named(std::size_t k, const std::string& what) const;
  void evaluate(std::size_t k, Wanted wanted, std::span<double> y, std::span<double> dydt);

  RankNetwork& subsystems_;
  double t_ = 0.0;
  std::span<const double> x_, dxdt_;
  bool slopes_given_ = false;
  std::vector<double> input_values_, input_slopes_, output_values_, output_slopes_;
  std::vector<double> jacobians_;  ///< kept for its storage only
};

}  // namespace concord
