#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "network/own_subsystems.hpp"
#include "network/rank_layout.hpp"

namespace concord {

/// All variables of this rank at a time between two communication points.
struct PassedPoint {
  double time = 0.0;
  std::vector<Sample> outputs, inputs;
  std::vector<double> states;
};

/// A macro-step and the samples of this rank's outputs at its ends.
struct PassedStep {
  MacroStep step;
  bool begin_slopes = false;  ///< whether those at the beginning count
  std::span<const Sample> begin, end;
};

/// What own subsystems were advanced with since the communication point, and where they have been
/// in between: each as exactly as it can tell. Subsystems with equations follow their way again
/// (Subsystem::retrace); others that can roll back are taken back and led to each time, and to the
/// end again; of the rest, outputs are the cubics through values and slopes at the ends of the
/// macro-step, or lines where slopes are not known.
class PassedWay {
 public:
  /// One call of `advance`.
  struct Piece {
    MacroStep step;
    InputContinuity continuity;
    Wanted wanted;
    std::span<const Polynomial> inputs;
    std::span<const double> states;  ///< at its begin
  };

  PassedWay(OwnSubsystems& own, const RankLayout& layout);

  /// A macro-step begins. `wanted`: somebody will ask; `saved`: whoever can roll back was saved at
  /// its beginning.
  void begin(bool wanted, bool saved);
  bool wanted() const { return wanted_; }

  /// Before subsystem k is advanced; `inputs` are its own.
  void note(std::size_t k, const MacroStep& step, std::span<const Polynomial> inputs,
            InputContinuity continuity, Wanted wanted);

  /// How many calls were noted of own subsystem k since then, and the i-th one.
  std::size_t count(std::size_t k) const { return ways_.empty() ? 0 : ways_[k].count; }
  Piece piece(std::size_t k, std::size_t i) const;

  /// Fills the points, whose times lie within the macro-step and ascend, before anything happens at
  /// its end.
  void follow(const PassedStep& passed, std::span<PassedPoint> points);

  /// "'left' (cubic), 'right' (line)": whose outputs were interpolated so far; empty: nobody's.
  std::string interpolated() const;

 private:
  struct Way {
    std::uint32_t count = 0;  ///< of pieces that count
    char interpolated = 0;    ///< 'c' by cubics, 'l' by lines
  };
  struct Call {
    MacroStep step;
    InputContinuity continuity = InputContinuity::broken;
    Wanted wanted = Wanted::values;
  };
  /// The i-th pieces of all subsystems: inputs and states as the rank's arrays have them.
  struct Level {
    std::vector<Call> calls;
    std::vector<Polynomial> inputs;
    std::vector<double> states;
  };

  void take_inputs(std::size_t k, std::span<PassedPoint> points);
  std::size_t retrace(std::size_t k, std::span<PassedPoint> points);
  std::size_t go_again(std::size_t k, std::span<PassedPoint> points);
  bool advance_to(std::size_t k, double begin, PassedPoint& point);
  void interpolate(std::size_t k, const PassedStep& passed, std::span<PassedPoint> points);
  std::size_t piece_at(std::size_t k, double time) const;
  void move_inputs(const Piece& piece, double begin);
  bool is_saved_at_begin(std::size_t k) const;

  OwnSubsystems& own_;
  const RankLayout& layout_;
  bool wanted_ = false, saved_ = false;
  std::vector<Way> ways_;            ///< made when they are first wanted
  std::vector<Level> levels_;        ///< the same
  std::vector<Polynomial> moved_;    ///< scratch
  std::vector<Sample> end_outputs_;  ///< scratch
  std::vector<double> states_;       ///< scratch
};

}  // namespace concord
