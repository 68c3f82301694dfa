#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "simulation/linear_system.hpp"
#include "studies/balanced_truncation.hpp"

namespace concord {

/// One input and one output of a linearised model, as they are shown.
struct TransferPath {
  std::string title;  ///< "servo: from motor.u to slide.x"
  StateSpace system;  ///< of one input and one output
  bool loop = false;  ///< the return ratio of a loop that is opened: closed where it is -1
};

/// Zeros, what cancels, and the gain at 0.
void print_path(const TransferPath& path);

/// Gain, phase, delay and modulus margins, and whether the loop is stable when closed. `closed`:
/// A of the closed loop.
void print_margins(const TransferPath& path, const Eigen::MatrixXd& closed);

/// Hankel singular values, and the error against its bound.
void print_reduced(const ReducedSystem& reduced);

/// Pictures of a path: "bode", "nyquist", "step" or "poles"; with `less` dashed beside it, if any.
void draw_path(const std::string& picture, const TransferPath& path, const StateSpace* less,
               std::optional<double> until, const std::filesystem::path& file);

}  // namespace concord
