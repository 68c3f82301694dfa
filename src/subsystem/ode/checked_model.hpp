#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "concord/ode_model.hpp"
#include "subsystem/sparse_model.hpp"
#include "subsystem/subsystem.hpp"

namespace concord {

class EventModel;
class HybridModel;

/// An OdeModel whose evaluations are counted and checked.
///
/// f and g return false beyond a time event, and where the model throws or gives inf or NaN; the
/// reason of the last such call stays available. Other exceptions pass. Nothing is allocated on
/// success.
///
/// The latest f and f at the two ends of the current macro-step are remembered: ARKODE asks for the
/// last stage again, and output derivatives, the next macro-step and repetitions of this one ask
/// for the same (t, x, u) at the ends.
class CheckedModel {
 public:
  /// `description` must outlive this object; it provides sizes and the names in messages.
  CheckedModel(std::unique_ptr<OdeModel> model, const SubsystemDescription& description);

  /// From here on f and g fail at times outside the interval, and have their limits from inside at
  /// its ends.
  void enter(const SmoothInterval& interval);

  /// The macro-step at whose ends f is remembered from here on.
  void remember_at(const MacroStep& step) {
    if (step.begin == memory_.ends.end) std::swap(memory_.known[at_begin], memory_.known[at_end]);
    memory_.ends = step;
  }

  std::size_t state_count() const { return description_.states.size(); }
  std::size_t input_count() const { return description_.inputs.size(); }
  std::size_t output_count() const { return description_.outputs.size(); }

  bool f(double t, std::span<const double> x, std::span<const double> u, std::span<double> dxdt);
  bool g(double t, std::span<const double> x, std::span<const double> u, std::span<double> y);

  /// False where the model has no Jacobians or they fail or are not finite.
  bool jacobians(double t, std::span<const double> x, std::span<const double> u,
                 const Jacobians& result);

  /// Which derivatives depend on which states; null where the model doesn't say.
  std::shared_ptr<const ColumnPattern> state_pattern() const;
  /// False where they fail or are not finite.
  bool state_entries(double t, std::span<const double> x, std::span<const double> u,
                     std::span<double> entries);

  /// Of f and g by states and inputs; null where the model doesn't say.
  std::shared_ptr<const LinearPattern> linear_pattern() const;
  /// False where they fail or are not finite.
  bool linear_entries(double t, std::span<const double> x, std::span<const double> u,
                      const Jacobians& entries);

  /// False where the model doesn't give them itself or they fail or are not finite.
  bool time_derivatives(double t, std::span<const double> x, std::span<const double> u,
                        const TimeDerivatives& result);
  bool output_slopes(double t, std::span<const double> x, std::span<const double> u,
                     const Motion& motion, std::span<double> dydt);

  /// False, with a reason, where the model doesn't give them, throws or gives inf or NaN.
  bool output_curvatures(double t, std::span<const double> x, std::span<const double> u,
                         const InputMotion& motion, std::span<double> d2ydt2);

  /// Where f and g may be evaluated.
  SmoothInterval interval() const;

  /// `call(t)` of the model itself; false where it throws RecoverableFailure.
  template <class Call>
  bool attempt(double t, Call&& call) {
    try {
      call(t);
    } catch (const RecoverableFailure& thrown) {
      note_thrown(t, thrown.what());
      return false;
    }
    return true;
  }

  /// False where the model refuses.
  bool set_parameter(std::size_t parameter, double value);
  std::optional<double> parameter(std::size_t parameter) const {
    return model_->parameter(parameter);
  }

  /// f was evaluated elsewhere: `count` times at points that nobody asks for again, then at
  /// (t, x, u), which counts unless it is remembered already.
  void take_over(std::int64_t count) { rhs_evaluations_ += count; }
  void take_over(double t, std::span<const double> x, std::span<const double> u,
                 std::span<const double> dxdt);

  /// Moves t to where f may be evaluated for it; false, with a reason, where that is nowhere.
  bool confine(double& t);

  /// Forgets what is remembered of f.
  void forget();

  /// What is remembered of f, and how often it was evaluated: integrators go by that.
  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, rhs_evaluations_, memory_.ends, memory_.known, memory_.x_u_f);
  }
  int memory_version() const { return 2; }

  /// One sentence on the last call that returned false.
  std::string failure() const;

  /// Evaluations of f so far.
  std::int64_t rhs_evaluations() const { return rhs_evaluations_; }

  bool time_dependent() const { return time_dependent_; }
  bool constant_jacobians() const { return constant_jacobians_; }
  bool gives_output_curvatures() const { return gives_output_curvatures_; }

  OdeModel& native() { return *model_; }

  /// Calls `use`, whose evaluations are remembered no longer than that: what follows is as without
  /// it, but for the count.
  template <class Use>
  auto aside(Use&& use) {
    const Memory kept = memory_;
    const auto result = use();
    memory_ = kept;
    return result;
  }

 private:
  enum class Culprit { state_derivative, output, output_curvature, model };
  /// Of which there rarely is one.
  struct Failure {
    Culprit culprit = Culprit::model;
    std::size_t index = 0;
    double t = 0.0;
    double value = 0.0;
    std::string text;
    std::vector<double> x, u;  ///< there
  };

  /// One remembered evaluation of f.
  struct Known {
    double t = std::numeric_limits<double>::quiet_NaN();
    std::uint64_t place = 0;  ///< of its x, u and f, one behind the other
  };
  enum : std::size_t { latest, at_begin, at_end };

  /// What evaluations leave behind, beside their count.
  struct Memory {
    MacroStep ends;
    std::array<Known, 3> known{{{.place = 0}, {.place = 1}, {.place = 2}}};
    std::vector<double> x_u_f;
  };

  /// x, u and f.
  std::span<double> numbers_of(const Known& known) {
    const std::size_t n = memory_.x_u_f.size() / memory_.known.size();
    return std::span(memory_.x_u_f).subspan(known.place * n, n);
  }
  const Known* known_at(double t, std::span<const double> x, std::span<const double> u);
  bool is_at(const Known& known, double t, std::span<const double> x, std::span<const double> u);
  void remember(Known& known, double t, std::span<const double> x, std::span<const double> u,
                std::span<const double> dxdt);
  void remember(double t, std::span<const double> x, std::span<const double> u,
                std::span<const double> dxdt);
  template <class Call>
  bool given(double t, Call&& call);
  bool finite(std::span<const double> values, Culprit culprit, double t, std::span<const double> x,
              std::span<const double> u);
  std::string cause() const;
  Failure& failing();
  void note_thrown(double t, const char* text);

  std::unique_ptr<OdeModel> model_;
  const HybridModel* hybrid_;  ///< the model, if events may change it
  const EventModel* event_;    ///< the model, if it can say why it is no number
  SparseModel* sparse_;        ///< the model, if it knows what depends on what
  const SubsystemDescription& description_;
  bool time_dependent_;
  bool constant_jacobians_;
  bool gives_output_curvatures_;
  std::int64_t rhs_evaluations_ = 0;
  SmoothInterval interval_;
  Memory memory_;
  std::unique_ptr<Failure> failure_;  ///< null: nothing has failed yet
};

/// Value by value. They are few: a call of memcmp costs more than it compares.
inline bool same_bits(std::span<const double> a, std::span<const double> b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i])) return false;
  return true;
}

/// A number for a message: 17 digits only where needed ("0.25", "inf", "nan").
std::string in_words(double value);

}  // namespace concord
