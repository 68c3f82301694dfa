#include "subsystem/ode/checked_model.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "concord/errors.hpp"
#include "subsystem/event_model.hpp"
#include "subsystem/ode/hybrid_model.hpp"
#include "support/foreign_call.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

/// Index of the first value that is not finite, or the size.
std::size_t first_bad(std::span<const double> values) {
  std::size_t i = 0;
  while (i < values.size() && std::isfinite(values[i])) ++i;
  return i;
}

bool all_finite(std::span<const double> values) { return first_bad(values) == values.size(); }

/// Returns the place behind. They are few: a call of memmove costs more than it moves.
double* copy(std::span<const double> from, double* to) {
  for (const double value : from) *to++ = value;
  return to;
}

}  // namespace

std::string in_words(double value) {
  if (std::isnan(value)) return "nan";
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

CheckedModel::CheckedModel(std::unique_ptr<OdeModel> model, const SubsystemDescription& description)
    : model_(std::move(model)),
      hybrid_(dynamic_cast<const HybridModel*>(model_.get())),
      event_(dynamic_cast<const EventModel*>(model_.get())),
      sparse_(dynamic_cast<SparseModel*>(model_.get())),
      description_(description),
      time_dependent_(model_->interface().time_dependent),
      constant_jacobians_(model_->interface().constant_jacobians),
      gives_output_curvatures_(model_->interface().output_curvatures) {
  memory_.x_u_f.resize(memory_.known.size() * (2 * state_count() + input_count()));
}

/// What is remembered at an event belongs to its other side. Where the interval is what it was, the
/// event is another subsystem's.
void CheckedModel::enter(const SmoothInterval& interval) {
  if (interval.from == interval_.from && interval.until == interval_.until) return;
  interval_ = interval;
  forget();
}

/// With its parameters, a model may change what depends on what.
bool CheckedModel::set_parameter(std::size_t parameter, double value) {
  if (!model_->set_parameter(parameter, value)) return false;
  const OdeInterface changed = model_->interface();
  time_dependent_ = changed.time_dependent;
  constant_jacobians_ = changed.constant_jacobians;
  forget();
  return true;
}

SmoothInterval CheckedModel::interval() const {
  if (hybrid_ == nullptr) return interval_;
  const SmoothInterval reachable = hybrid_->reachable();
  return {std::max(interval_.from, reachable.from), std::min(interval_.until, reachable.until)};
}

/// Moves t into [from, until); times that rounding has put beyond an end belong to it.
bool CheckedModel::confine(double& t) {
  if (t >= interval_.from && t < interval_.until) [[likely]]
    return true;
  const double end = t < interval_.from ? interval_.from : interval_.until;
  constexpr double rounding = 8.0 * std::numeric_limits<double>::epsilon();
  const double largest =
      std::max({std::abs(end), std::abs(memory_.ends.begin), std::abs(memory_.ends.end)});
  if (!(std::abs(t - end) <= rounding * largest)) {
    note_thrown(t, "evaluated beyond an event");
    return false;
  }
  t = end == interval_.until ? std::nextafter(end, -std::numeric_limits<double>::infinity()) : end;
  return true;
}

bool CheckedModel::f(double t, std::span<const double> x, std::span<const double> u,
                     std::span<double> dxdt) {
  if (const Known* const known = known_at(t, x, u)) {
    copy(numbers_of(*known).last(dxdt.size()), dxdt.data());
    return true;
  }
  if (Advancing::too_long()) [[unlikely]] {
    throw SimulationError(
        "does not reach the end of its macro-step within -cosim_hang_limit, at t = " +
        exact_number(t) + " s; give it longer, or look at its integrator and tolerances");
  }
  ++rhs_evaluations_;
  double inside = t;
  if (!confine(inside)) return false;
  try {
    model_->derivatives(inside, x, u, dxdt);
  } catch (const RecoverableFailure& thrown) {
    note_thrown(t, thrown.what());
    return false;
  }
  if (!finite(dxdt, Culprit::state_derivative, t, x, u)) return false;
  remember(t, x, u, dxdt);
  return true;
}

void CheckedModel::take_over(double t, std::span<const double> x, std::span<const double> u,
                             std::span<const double> dxdt) {
  if (known_at(t, x, u) != nullptr) return;
  ++rhs_evaluations_;
  remember(t, x, u, dxdt);
}

void CheckedModel::remember(double t, std::span<const double> x, std::span<const double> u,
                            std::span<const double> dxdt) {
  remember(memory_.known[latest], t, x, u, dxdt);
  if (t == memory_.ends.begin) remember(memory_.known[at_begin], t, x, u, dxdt);
  if (t == memory_.ends.end) remember(memory_.known[at_end], t, x, u, dxdt);
}

void CheckedModel::forget() {
  for (Known& known : memory_.known) known.t = std::numeric_limits<double>::quiet_NaN();
}

/// Null: nothing is remembered there.
const CheckedModel::Known* CheckedModel::known_at(double t, std::span<const double> x,
                                                  std::span<const double> u) {
  for (const Known& known : memory_.known)
    if (is_at(known, t, x, u)) return &known;
  return nullptr;
}

bool CheckedModel::is_at(const Known& known, double t, std::span<const double> x,
                         std::span<const double> u) {
  return t == known.t && same_bits(x, numbers_of(known)) &&
         same_bits(u, numbers_of(known).subspan(x.size()));
}

void CheckedModel::remember(Known& known, double t, std::span<const double> x,
                            std::span<const double> u, std::span<const double> dxdt) {
  known.t = t;
  copy(dxdt, copy(u, copy(x, numbers_of(known).data())));
}

bool CheckedModel::g(double t, std::span<const double> x, std::span<const double> u,
                     std::span<double> y) {
  if (!confine(t)) return false;
  try {
    model_->outputs(t, x, u, y);
  } catch (const RecoverableFailure& thrown) {
    note_thrown(t, thrown.what());
    return false;
  }
  return finite(y, Culprit::output, t, x, u);
}

/// Whether the model gives what `call` asks it for at t.
template <class Call>
bool CheckedModel::given(double t, Call&& call) {
  if (!confine(t)) return false;
  try {
    return call(t);
  } catch (const RecoverableFailure&) {
    return false;
  }
}

bool CheckedModel::jacobians(double t, std::span<const double> x, std::span<const double> u,
                             const Jacobians& result) {
  return given(t, [&](double inside) { return model_->jacobians(inside, x, u, result); }) &&
         all_finite(result.f_x) && all_finite(result.f_u) && all_finite(result.g_x) &&
         all_finite(result.g_u);
}

std::shared_ptr<const ColumnPattern> CheckedModel::state_pattern() const {
  return sparse_ != nullptr ? sparse_->state_pattern() : nullptr;
}

bool CheckedModel::state_entries(double t, std::span<const double> x, std::span<const double> u,
                                 std::span<double> entries) {
  const auto give = [&](double inside) {
    sparse_->state_entries(inside, x, u, entries);
    return true;
  };
  return given(t, give) && all_finite(entries);
}

std::shared_ptr<const LinearPattern> CheckedModel::linear_pattern() const {
  return sparse_ != nullptr ? sparse_->linear_pattern() : nullptr;
}

bool CheckedModel::linear_entries(double t, std::span<const double> x, std::span<const double> u,
                                  const Jacobians& entries) {
  const auto give = [&](double inside) {
    sparse_->linear_entries(inside, x, u, entries);
    return true;
  };
  return given(t, give) && all_finite(entries.f_x) && all_finite(entries.f_u) &&
         all_finite(entries.g_x) && all_finite(entries.g_u);
}

bool CheckedModel::time_derivatives(double t, std::span<const double> x, std::span<const double> u,
                                    const TimeDerivatives& result) {
  return given(t, [&](double inside) { return model_->time_derivatives(inside, x, u, result); }) &&
         all_finite(result.f_t) && all_finite(result.g_t);
}

bool CheckedModel::output_slopes(double t, std::span<const double> x, std::span<const double> u,
                                 const Motion& motion, std::span<double> dydt) {
  return given(t,
               [&](double inside) { return model_->output_slopes(inside, x, u, motion, dydt); }) &&
         all_finite(dydt);
}

bool CheckedModel::output_curvatures(double t, std::span<const double> x, std::span<const double> u,
                                     const InputMotion& motion, std::span<double> d2ydt2) {
  if (!confine(t)) return false;
  const auto give = [&](double) {
    if (!model_->output_curvatures(t, x, u, motion, d2ydt2))
      throw RecoverableFailure("second derivatives of outputs were promised and are not given");
  };
  return attempt(t, give) && finite(d2ydt2, Culprit::output_curvature, t, x, u);
}

bool CheckedModel::finite(std::span<const double> values, Culprit culprit, double t,
                          std::span<const double> x, std::span<const double> u) {
  const std::size_t bad = first_bad(values);
  if (bad == values.size()) return true;
  Failure& failure = failing();
  failure.culprit = culprit;
  failure.index = bad;
  failure.t = t;
  failure.value = values[bad];
  failure.x.assign(x.begin(), x.end());
  failure.u.assign(u.begin(), u.end());
  return false;
}

CheckedModel::Failure& CheckedModel::failing() {
  if (!failure_) failure_ = std::make_unique<Failure>();
  return *failure_;
}

void CheckedModel::note_thrown(double t, const char* text) {
  Failure& failure = failing();
  failure.culprit = Culprit::model;
  failure.t = t;
  failure.text = text;
}

std::string CheckedModel::cause() const {
  const auto& [culprit, index, t, value, text, x, u] = *failure_;
  if (event_ == nullptr) return {};
  const bool output = culprit == Culprit::output;
  const std::string why = event_->why_not_finite(
      output ? EventModel::Part::output : EventModel::Part::derivative, index, t, x, u);
  return why.empty() ? why : ": " + why;
}

std::string CheckedModel::failure() const {
  const Failure failure = failure_ ? *failure_ : Failure{};
  const std::string at = " at t = " + in_words(failure.t) + " s";
  const std::string is = "' is " + in_words(failure.value) + at;
  switch (failure.culprit) {
    case Culprit::state_derivative:
      return "derivative of state '" + description_.states[failure.index].name + is + cause();
    case Culprit::output:
      return "output '" + description_.outputs[failure.index].name + is + cause();
    case Culprit::output_curvature:
      return "second derivative of output '" + description_.outputs[failure.index].name + is;
    case Culprit::model:
      break;
  }
  return failure.text + at;
}

}  // namespace concord
