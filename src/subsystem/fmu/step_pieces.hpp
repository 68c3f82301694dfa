#pragma once

#include <optional>
#include <span>
#include <vector>

#include "subsystem/fmu/use.hpp"
#include "subsystem/subsystem.hpp"

namespace concord {

/// A part of a macro-step that the FMU makes in one step.
struct StepPiece {
  double begin = 0.0, end = 0.0;
  std::optional<double> hold_at;  ///< tau whose input values are held; else inputs from `begin` on
  std::optional<int> sample;      ///< number of the sample that the outputs at `end` are
};

struct PieceSettings {
  int micro_steps = 1;  ///< 1: the FMU takes cubic inputs
  int input_order = 0;  ///< above 0 inputs vary within a micro-step, through both its ends
  bool variable_steps = false;
  double fixed_internal_step = 0.0;  ///< pieces are multiples of it; 0: none
  bool feedthrough = false;
};

PieceSettings piece_settings(const FmuUse& use, bool feedthrough);

/// Samples that a backward difference takes (third order), and a forward one (fourth order).
inline constexpr int sampled_ends = 4, forward_samples = 4;

/// Cuts a macro-step. Inputs that vary are held at the middle of each of `micro_steps` pieces, or
/// go through both its ends (second order); where outputs depend on inputs directly, a very short
/// piece (an internal step of FMUs that have a fixed one) with the inputs of its end goes before
/// each point whose outputs are read. With `by_differences` the outputs are sampled at four points
/// up to the end, whose distance is returned.
double cut_into_pieces(const MacroStep& step, bool constant, bool by_differences,
                       const PieceSettings& settings, std::vector<StepPiece>& pieces);

/// The pieces of a macro-step. How the FMU is used may turn out otherwise at their beginning: then
/// they are cut anew.
class MacroStepPieces {
 public:
  void cut(const MacroStep& step, bool constant, bool by_differences,
           const PieceSettings& settings) {
    distance_ = cut_into_pieces(step, constant, by_differences, settings, pieces_);
    outdated_ = false;
    under_way_ = true;
  }
  std::span<const StepPiece> all() const { return pieces_; }
  /// Between samples.
  double distance() const { return distance_; }

  /// The FMU, at t, is used in another way than was thought.
  void doubt(double t) { outdated_ = under_way_ && t == pieces_.front().begin; }
  bool outdated() const { return outdated_; }

  /// The macro-step is over.
  void end() { under_way_ = false; }

 private:
  std::vector<StepPiece> pieces_;
  double distance_ = 0.0;
  bool under_way_ = false;
  bool outdated_ = false;
};

/// [left, right] in the same way, as one micro-step; `begin` is where tau is 0.
std::vector<StepPiece> pieces_to(double left, double right, double begin,
                                 const PieceSettings& settings);

/// y' at the end from four equidistant samples, the last at the end: truncation distance^3/4 y''''.
void slopes_at_end(const std::vector<std::vector<double>>& samples, double distance,
                   std::span<double> slopes);

/// y' at the start from y there and four equidistant samples behind.
void slopes_at_start(std::span<const double> y, const std::vector<std::vector<double>>& samples,
                     double distance, std::span<double> slopes);

}  // namespace concord
