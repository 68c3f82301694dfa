#pragma once

#include <memory>
#include <string>

#include "support/words.hpp"

namespace concord {

class Coupling;
class RankNetwork;
struct Method;
struct SubsystemSettings;

/// How the coupling at the end of a macro-step is solved, as data: what it is like, what it needs
/// of the subsystems, what it does not go with and why, and the object that does it.
struct Solve {
  static const Solve snes, missiles, none, monolithic, gauss, radau;

  using Create = std::unique_ptr<Coupling> (*)(const Method&, RankNetwork&,
                                               const SubsystemSettings& defaults,
                                               double loosest_rtol);

  /// Capabilities without which a subsystem cannot take part.
  struct Needs {
    bool rollback = false;       ///< or, with a hold that the estimators know, a place in them
    bool linearization = false;  ///< with states
    bool equations = false;
    bool outputs_of_constraints = false;  ///< where there are constraints: outputs without a step
  };

  std::string_view word;   ///< of -cosim_solve
  bool by_option = true;   ///< else by -cosim_type alone
  bool from_past = false;  ///< explicit: inputs from the past, every subsystem once
  bool iterates = false;   ///< from a first guess to a tolerance
  bool repeats = false;    ///< integrates again where that helps and all subsystems roll back
  bool as_one = false;     ///< all equations as one ODE on each rank, without holds and order
  bool at_nodes = false;   ///< states and inputs together at nodes within: nothing is held
  Needs needs{};
  /// Why it does not go with something else, and what to do; null where it does.
  const char* refuses_hold = nullptr;        ///< that the estimators don't know
  const char* refuses_schedule = nullptr;    ///< other than parallel
  const char* refuses_estimate = nullptr;    ///< of the error, for -cosim_adapt
  const char* refuses_indirect = nullptr;    ///< constraint; what follows on "constraint 'c' "
  const char* estimates_no_error = nullptr;  ///< of a whole run, and what to compare with instead
  std::string (*describe)(const Method&) = nullptr;  ///< more than the word, for -cosim_view
  Create create = nullptr;

  /// Whether inputs are polynomials that somebody chooses.
  bool holds_inputs() const { return !as_one && !at_nodes; }

  friend bool operator==(const Solve& a, const Solve& b) { return a.word == b.word; }
};

/// All of them, default first.
std::span<const Solve> all_solves();

template <>
std::span<const WordOf<Solve>> words_of<Solve>();

inline std::string_view word(const Solve& solve) { return solve.word; }

}  // namespace concord
