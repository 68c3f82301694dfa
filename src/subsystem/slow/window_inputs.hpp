#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "concord/archive.hpp"
#include "concord/polynomial.hpp"

namespace concord {

/// The inputs of a subsystem over several macro-steps, of which it takes one step.
class WindowInputs {
 public:
  WindowInputs() = default;
  explicit WindowInputs(std::size_t inputs) : over_window_(inputs) {}

  /// Inputs over a macro-step that follows those of the window, of size h, s.
  void add(double h, std::span<const Polynomial> inputs);

  int macro_steps() const { return static_cast<int>(times_.size()); }
  /// s, of all macro-steps of the window
  double size() const { return size_; }

  /// Cubics of tau from the window's begin: through its begin and end and two communication points
  /// between, chosen at about a third and two thirds of it; of two macro-steps, through the last
  /// point before the window where there is one; of one, the input itself. Where there are fewer
  /// points the degree is lower. Equal values give a constant. Valid until the next call.
  std::span<const Polynomial> over_window();

  /// The next macro-step begins a new window, which continues this one.
  void end_window();
  /// The same without a past.
  void begin_anew();

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, times_, values_, last_, last_size_, size_, before_time_, before_);
  }

 private:
  std::vector<double> times_;     ///< of points, from the window's begin on, without its end
  std::vector<double> values_;    ///< there, of all inputs, one point after the other
  std::vector<Polynomial> last_;  ///< over the last macro-step
  double last_size_ = 0.0;        ///< s, of that one
  double size_ = 0.0;             ///< s, up to its end
  double before_time_ = 0.0;      ///< of the point before, from the window's begin, s: negative
  std::vector<double> before_;    ///< values there; empty: none
  std::vector<Polynomial> over_window_;
};

}  // namespace concord
