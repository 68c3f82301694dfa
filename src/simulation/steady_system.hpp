#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulation/point_system.hpp"
#include "simulation/simulation_core.hpp"

namespace concord {

/// A parameter, from this value on, or an input that nothing feeds. `around`: of a system or of the
/// model, from which others follow when it is read.
struct FreeWish {
  std::string name;
  std::optional<double> value;
  bool around = false;
};

/// What is asked of an operating point. `held`: inputs that nothing feeds have these values; so do
/// outputs and states, for each of which one of `free` is found.
struct SteadyWishes {
  std::vector<std::pair<std::string, double>> held;
  std::vector<FreeWish> free;
  std::function<Model(const Changes&)> model;  ///< read with other numbers
};

/// 0 = f(t, x, p) and the held outputs, for the states x and what is free, p, of a whole network at
/// rest: as many equations as unknowns.
///
/// States on which neither f nor any event depends (how far a car has come) are no unknowns, and
/// may move.
class SteadySystem {
 public:
  /// Of one with `-cosim_type monolithic` that has been started. Throws InputError for wishes that
  /// name nothing, or that leave too many or too few unknowns; RecoverableFailure where f has no
  /// values at the start.
  SteadySystem(SimulationCore& simulation, const SteadyWishes& wishes, double time);
  SteadySystem(const SteadySystem&) = delete;
  SteadySystem& operator=(const SteadySystem&) = delete;

  PointSystem& equations() { return *system_; }
  NetworkAtPoint& network() { return network_; }
  bool moves(std::size_t state) const { return moves_[state] != 0; }

 private:
  void hold(const std::string& name, double value);
  void set_free(const FreeWish& wish);
  void read_anew(const std::function<Model(const Changes&)>& model, const Changes& numbers);
  void require_square() const;
  void find_moving();
  void note_what_matters(std::vector<char>& matters);

  SimulationCore& simulation_;
  std::unique_ptr<SimulationCore> other_;  ///< that the network stands on; null: on `simulation_`
  NetworkAtPoint network_;
  std::vector<FreeValue> free_;
  std::vector<PointEquation> held_;  ///< outputs and states
  std::vector<std::string> held_names_;
  std::vector<char> moves_;         ///< per state
  std::vector<std::size_t> state_;  ///< the others
  std::optional<PointSystem> system_;
};

}  // namespace concord
