#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "concord/archive.hpp"
#include "concord/subsystem.hpp"
#include "signal/sizes.hpp"
#include "subsystem/ode/event_search.hpp"
#include "subsystem/ode/state_rounding.hpp"

namespace concord {

/// Sizes that are given; 0: none.
template <class Variables>
std::vector<double> nominal_of(const Variables& variables) {
  std::vector<double> result;
  for (const auto& variable : variables) result.push_back(variable.nominal);
  return result;
}

/// Of an OdeModel as a subsystem: where it stands at a communication point.
struct OdeMemory {
  explicit OdeMemory(const SubsystemDescription& description)
      : states(nominal_of(description.states)), inputs(nominal_of(description.inputs)) {}

  double t = 0.0;
  double h = 0.0;      ///< size of the last macro-step
  double begin = 0.0;  ///< of it
  std::vector<double> x;
  Sizes states, inputs;
  bool seen = false;  ///< in the sizes
  StateRounding::Memory rounding;
  std::vector<char> rising;  ///< from 0, so steeply that they have no size yet

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, t, h, begin, x, states, inputs, seen, rounding, rising);
  }
  int memory_version() const { return 2; }
};

/// The memory of the last `save`; it takes no room before there was one.
class SavedMemory {
 public:
  void keep(const OdeMemory& now) {
    if (memory_)
      *memory_ = now;
    else
      memory_ = std::make_unique<OdeMemory>(now);
  }
  const OdeMemory& kept() const { return *memory_; }

 private:
  std::unique_ptr<OdeMemory> memory_;
};

/// What the first trial of a macro-step gave where it continued a multistep history, which trials
/// after it don't have: the same inputs must give the same again.
struct FirstTrial {
  MacroStep step;
  std::vector<Polynomial> inputs;
  std::vector<double> x, errors;
  EventSearch::Way way;  ///< where there are events
};

/// Of macro-steps, between `save` and `restore`.
struct OdeTrials {
  bool was_repeated = false;          ///< the macro-step before the last save
  bool repeating = false;             ///< restored since the last save
  bool next_is_first = false;         ///< advance since the last save
  std::unique_ptr<FirstTrial> first;  ///< null: it tells nothing

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, was_repeated, repeating, next_is_first);
    if (archive.reading()) first.reset();
  }
  void save() {
    was_repeated = std::exchange(repeating, false);
    next_is_first = true;
    first.reset();
  }
  void restore() {
    repeating = true;
    next_is_first = false;
  }
};

/// Those that have been set. They are the model's, which no rollback takes back.
struct SetParameters {
  std::int64_t times_set = 0;
  std::vector<std::optional<double>> values;

  void io(Archive& archive) { CONCORD_MEMBERS(archive, times_set, values); }
};

}  // namespace concord
