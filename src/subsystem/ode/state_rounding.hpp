#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "concord/archive.hpp"
#include "subsystem/integrator_settings.hpp"
#include "subsystem/ode/checked_model.hpp"

namespace concord {

/// What rounding makes of the states within a macro-step, for those whose tolerance it may exceed:
/// states that are small differences of large terms, of which nothing better can be asked.
///
/// f moves by |f(x + d, u + e) - f(x, u)| where all x_j and u_j move by some units in the last
/// place of their sizes with signs that don't cancel: that is what rounding makes of f. Over a time
/// h, or 1 / |df_i/dx_i| where the state forgets faster, or 1 / sqrt|(df/dx)^2|_ii where it turns
/// faster, it becomes an error of x_i.
class StateRounding {
 public:
  struct Memory {
    std::vector<double> rate;      ///< of f_i, the largest so far
    std::vector<double> time;      ///< in which the state forgets or turns; else infinite
    std::int64_t macro_steps = 0;  ///< since the start
    std::vector<double> inputs;    ///< sizes of inputs at the last measurement

    void io(Archive& archive) { CONCORD_MEMBERS(archive, rate, time, macro_steps, inputs); }
    int memory_version() const { return 2; }
  };

  explicit StateRounding(CheckedModel& model) : model_(model) {}

  Memory fresh() const;

  /// Whether to measure anew in the macro-step that begins: the first, second, fourth, eighth...
  static bool due(const Memory& memory) {
    return (memory.macro_steps & (memory.macro_steps - 1)) == 0;
  }

  struct Point {
    double t = 0.0, h = 0.0;
    std::span<const double> x, u;
    std::span<const double> x_sizes, u_sizes;
  };

  /// Whether inputs have grown since then to what makes rounding exceed the tolerance.
  bool outgrown(const Point& at, const Tolerance& tolerance, const Memory& memory) const;

  /// Measures at a point, or leaves `memory` as it is where f fails nearby.
  void measure(const Point& at, const Tolerance& tolerance, Memory& memory);

  /// Of each state within a macro-step of size h.
  static void within(double h, const Memory& memory, std::span<double> result);

 private:
  bool rates(const Point& at, std::span<double> f, std::span<double> result);
  bool slopes_by(const Point& at, std::span<const double> f, std::size_t i,
                 std::span<double> column);
  void follow(const Point& at, std::span<const double> f, std::size_t i,
              std::span<const double> column, std::span<double> rate, double& time);
  static void follow(const ColumnPattern& structure, std::span<const double> f_x, double h,
                     std::size_t i, std::span<double> rate, double& time);
  std::shared_ptr<const ColumnPattern> structure_at(const Point& at, std::vector<double>& f_x);

  CheckedModel& model_;
};

}  // namespace concord
