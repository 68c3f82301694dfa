#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "subsystem/subsystem.hpp"

namespace concord {

/// Subsystems of one kind whose macro-steps are begun together, so that each `advance` that follows
/// finds most of its work done (methods 16). Rows have a value per member and lie one behind the
/// other, variable by variable.
class AdvanceBatch {
 public:
  virtual ~AdvanceBatch() = default;

  /// All members are about to advance over this macro-step; `inputs`: those of all subsystems.
  virtual void begin(const MacroStep& step, std::span<const Polynomial> inputs) = 0;

  /// What was begun counts no longer, but for the way that members have gone.
  virtual void end() = 0;

  /// The macro-step that was begun last: whether a member has come through it as one micro-step,
  /// from where to where, and f there; valid until the next one.
  struct Way {
    MacroStep step;
    std::span<const char> members;
    std::span<const double> begin, end, begin_slopes, end_slopes;
  };
  virtual Way way() const = 0;

  /// Rows of inputs in it; valid until the next call.
  virtual std::span<const double> inputs_at(double tau) = 0;

  /// Takes over what has changed in members, before they are asked as follows. False where one of
  /// them fits no longer.
  virtual bool refresh() = 0;
  /// Another number whenever that was something.
  virtual std::int64_t version() const = 0;
  /// Whether derivatives of f and g are the same at every point, for one version.
  virtual bool keeps_derivatives() const = 0;

  /// f and g as members give them, which are no numbers where a member would fail. False where all
  /// would.
  virtual bool derivatives(double t, std::span<const double> x, std::span<const double> u,
                           std::span<double> dxdt) = 0;
  virtual bool outputs(double t, std::span<const double> x, std::span<const double> u,
                       std::span<double> y) = 0;
  /// f of every member was asked for so often, in the place of its own evaluations.
  virtual void count_evaluations(std::int64_t count) = 0;
};

/// A subsystem, and where its inputs begin among those of all.
struct BatchCandidate {
  Subsystem* subsystem;
  std::size_t first_input;
};

/// Which of the candidates, by position, are begun together.
struct SubsystemBatch {
  std::unique_ptr<AdvanceBatch> steps;
  std::vector<std::size_t> members;
};

/// Batches of those that fit each other, neighbours first; some belong to none.
std::vector<SubsystemBatch> make_advance_batches(std::span<const BatchCandidate> subsystems);

}  // namespace concord
