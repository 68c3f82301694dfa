#include <algorithm>
#include <cmath>

#include "concord/errors.hpp"
#include "subsystem/fmu/sampled_clock.hpp"
#include "subsystem/fmu/setup.hpp"
#include "subsystem/fmu/step_pieces.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

constexpr int most_returns = 10'000;  ///< early returns and discards within one macro-step

/// An FMU of FMI 2 or 3 that steps by itself.
///
/// It stays in initialisation mode, where outputs may be read for any inputs, until the first call
/// that needs it outside. Afterwards the standard allows no Get after a Set without a step between.
class CoSimulation final : public Subsystem {
 public:
  CoSimulation(std::shared_ptr<const FmuSetup> setup, const SubsystemSettings& settings);
  ~CoSimulation() override { instance_->free_state(saved_state_); }

  void start(const MacroStep& first, double stop) override;
  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs,
                  InputContinuity continuity, Wanted wanted, std::span<Sample> outputs) override;
  Outcome point_outputs(std::span<const Sample> inputs, Wanted wanted,
                        std::span<Sample> outputs) override;
  std::span<const double> states() const override { return now_.x; }
  Outcome state_derivatives(std::span<const Sample> inputs, std::span<double> result) override;
  Outcome linearize(std::span<const Sample> inputs, Linearization& result) override;
  void save() override;
  void restore() override;

 private:
  struct Point {
    double t = 0.0;
    std::vector<double> x, y;
  };

  bool failed(const std::string& reason) {
    failure_ = reason + " at t = " + short_number(now_.t) + " s";
    return false;
  }
  bool failed_call() { return failed(instance_->failure()); }
  bool leave_initialization();
  bool handle_event();
  bool run(std::span<const Polynomial> inputs, const MacroStep& step, Wanted wanted);
  bool run_piece(std::span<const Polynomial> inputs, double begin, const StepPiece& piece);
  bool feed(std::span<const Polynomial> inputs, double tau);
  bool feed_constant(std::span<const Polynomial> inputs, double tau);
  bool feed_derivatives(std::span<const Polynomial> inputs, double tau);
  bool step_once(double end);
  bool read_outputs();
  bool read_states();
  bool read_slopes(std::span<const Polynomial> inputs, double h, std::span<Sample> outputs);
  bool slopes_by_linearization(std::span<const Polynomial> inputs, double h,
                               std::span<Sample> outputs);
  bool start_slopes(std::span<const Sample> inputs, std::span<Sample> outputs);
  bool try_forward(std::span<const Sample> inputs, std::span<Sample> outputs);
  bool partial(std::span<const FmiReference> unknowns, std::size_t rows,
               std::span<const FmiReference> knowns, std::vector<double>& result);
  SlopeSource slope_source() const;

  std::shared_ptr<const FmuSetup> setup_;
  const FmiInterface& interface_;
  std::unique_ptr<FmuInstance> instance_;
  PieceSettings piece_settings_;
  std::vector<StepPiece> pieces_;
  double sample_distance_ = 0.0;
  Point now_, saved_;
  void* saved_state_ = nullptr;  ///< the FMU's, at saved_
  bool initializing_ = true;
  double tolerance_ = 0.0;
  double h_ = 0.0;              ///< of the last macro-step
  bool redo_possible_ = false;  ///< save() is in use
  bool derivatives_set_ = false;
  std::vector<double> u_;
  std::vector<std::vector<double>> samples_;  ///< outputs at the ends of the last pieces
  std::vector<FmiReference> slope_references_;
  std::vector<int> orders_;
  std::vector<double> order_values_, slopes_, seed_;
  Linearization linear_;
  SampledClock clock_;
};

CoSimulation::CoSimulation(std::shared_ptr<const FmuSetup> setup, const SubsystemSettings& settings)
    : Subsystem(setup->description), setup_(std::move(setup)), interface_(setup_->interface()) {
  tolerance_ = chosen_tolerance(*setup_, settings);
  if (!settings.rollback) description_.capabilities.rollback = false;
  if (!settings.linearization) description_.capabilities.linearization = false;
  if (!settings.state_derivatives) description_.capabilities.state_derivatives = false;
  instance_ = FmuInstance::make(setup_->source());
  now_.x.resize(description_.states.size());
  now_.y.resize(description_.outputs.size());
  u_.resize(description_.inputs.size());
  slopes_.resize(now_.y.size());
  samples_.assign(sampled_ends, std::vector<double>(now_.y.size()));
  piece_settings_.micro_steps = interface_.interpolates || setup_->polynomials_by_update
                                    ? 1
                                    : setup_->request.options.micro_steps;
  piece_settings_.variable_steps = interface_.variable_steps;
  piece_settings_.fixed_internal_step = interface_.fixed_internal_step;
  piece_settings_.feedthrough = !description_.feedthrough.empty();
}

void CoSimulation::start(const MacroStep& first, double stop) {
  now_.t = first.begin;
  h_ = first.size();
  if (!begin_initialization(*setup_, *instance_, first.begin, stop, tolerance_))
    throw SimulationError(instance_->failure() + " before the start");
  saved_ = now_;
}

bool CoSimulation::leave_initialization() {
  if (!initializing_) return true;
  initializing_ = false;
  if (!instance_->leave_initialization()) return failed_call();
  if (!interface_.event_mode) return true;
  EventOutcome outcome{};
  if (!instance_->update_discrete_states(outcome) || !instance_->enter_step_mode())
    return failed_call();
  return !outcome.terminate || failed("the FMU ended the simulation");
}

bool CoSimulation::handle_event() {
  EventOutcome outcome{};
  if (!instance_->enter_event_mode() || !instance_->update_discrete_states(outcome) ||
      !instance_->enter_step_mode())
    return failed_call();
  return !outcome.terminate || failed("the FMU ended the simulation");
}

Outcome CoSimulation::advance(const MacroStep& step, std::span<const Polynomial> inputs,
                              InputContinuity /*continuity*/, Wanted wanted,
                              std::span<Sample> outputs) {
  clock_.begin();
  ++counters_.advances;
  bool good = leave_initialization() && run(inputs, step, wanted) && read_states();
  if (good && wanted == Wanted::values_and_derivatives)
    good = read_slopes(inputs, step.size(), outputs);
  h_ = step.size();
  for (std::size_t i = 0; good && i < now_.y.size(); ++i)
    outputs[i] = {now_.y[i], wanted == Wanted::values ? 0.0 : slopes_[i]};
  clock_.end(counters_.wall_time);
  return good ? Outcome::ok : Outcome::failed;
}

SlopeSource CoSimulation::slope_source() const {
  if (interface_.output_derivative_order > 0) return SlopeSource::fmu;
  if (description_.capabilities.linearization) return SlopeSource::linearization;
  return interface_.variable_steps && interface_.fixed_internal_step == 0.0
             ? SlopeSource::differences
             : SlopeSource::none;
}

bool CoSimulation::run(std::span<const Polynomial> inputs, const MacroStep& step, Wanted wanted) {
  const bool constant = std::all_of(inputs.begin(), inputs.end(), [](const Polynomial& u) {
    return u.c[1] == 0.0 && u.c[2] == 0.0 && u.c[3] == 0.0;
  });
  const bool by_differences =
      wanted == Wanted::values_and_derivatives && slope_source() == SlopeSource::differences;
  sample_distance_ = cut_into_pieces(step, constant, by_differences, piece_settings_, pieces_);
  for (const StepPiece& piece : pieces_) {
    if (!run_piece(inputs, step.begin, piece)) return false;
    if (piece.sample && !read_outputs()) return false;
    if (piece.sample) samples_[static_cast<std::size_t>(*piece.sample)] = now_.y;
  }
  return read_outputs();
}

/// One piece of the macro-step: usually one step of the FMU, more where it returns early.
bool CoSimulation::run_piece(std::span<const Polynomial> inputs, double begin,
                             const StepPiece& piece) {
  if (setup_->polynomials_by_update)
    instance_->on_intermediate_update([&, begin](double time) {
      for (std::size_t i = 0; i < u_.size(); ++i) u_[i] = inputs[i](time - begin);
      if (!instance_->set(setup_->inputs, u_)) throw SimulationError(instance_->failure());
    });
  for (int attempt = 0; now_.t < piece.end; ++attempt) {
    if (attempt > most_returns) return failed("the FMU returns early without end");
    const double tau = now_.t == piece.begin ? piece.begin - begin : now_.t - begin;
    const bool held = piece.hold_at.has_value();
    if (!(held ? feed_constant(inputs, *piece.hold_at) : feed(inputs, tau))) return false;
    if (!step_once(piece.end)) return false;
  }
  return true;
}

bool CoSimulation::feed(std::span<const Polynomial> inputs, double tau) {
  return feed_constant(inputs, tau) && (!interface_.interpolates || feed_derivatives(inputs, tau));
}

bool CoSimulation::feed_constant(std::span<const Polynomial> inputs, double tau) {
  for (std::size_t i = 0; i < u_.size(); ++i) u_[i] = inputs[i](tau);
  return instance_->set(setup_->inputs, u_) || failed_call();
}

/// u', u'', u''' at tau, of the real inputs; zeros only where something else was set before.
bool CoSimulation::feed_derivatives(std::span<const Polynomial> inputs, double tau) {
  const int highest = setup_->request.options.input_derivatives;
  slope_references_.clear();
  orders_.clear();
  order_values_.clear();
  bool any = false;
  for (const FmuPorts::Item& item : setup_->inputs.items()) {
    if (item.type != FmiType::float64) continue;
    const auto& c = inputs[item.first].c;
    const double derivative[] = {c[1] + tau * (2 * c[2] + tau * 3 * c[3]),
                                 2 * c[2] + 6 * c[3] * tau, 6 * c[3]};
    for (int order = 1; order <= highest; ++order) {
      slope_references_.push_back(item.reference);
      orders_.push_back(order);
      order_values_.push_back(derivative[order - 1]);
      any = any || derivative[order - 1] != 0.0;
    }
  }
  if (orders_.empty() || (!any && !derivatives_set_)) return true;
  derivatives_set_ = any;
  return instance_->set_input_derivatives(slope_references_, orders_, order_values_) ||
         failed_call();
}

bool CoSimulation::step_once(double end) {
  double reached = end;
  bool event = false;
  const double before = now_.t;
  const StepEnd result = instance_->do_step(now_.t, end - now_.t, !redo_possible_, reached, event);
  ++counters_.micro_steps;
  if (result == StepEnd::completed) [[likely]] {
    now_.t = end;
    return !event || handle_event();
  }
  const std::string call = setup_->model->version == FmiVersion::v2 ? "fmi2DoStep" : "fmi3DoStep";
  if (result == StepEnd::failed) return failed_call();
  if (result == StepEnd::terminated)
    return failed(call + ": the FMU " + setup_->request.path.string() + " ended the simulation");
  now_.t = std::min(reached, end);
  if (result == StepEnd::discarded)
    return reached > before ||
           failed(instance_->failure() + " for a step of " + short_number(end - before) + " s");
  return event ? handle_event()
               : reached > before || failed(call + " returned early without having moved");
}

bool CoSimulation::read_outputs() {
  if (!instance_->get(setup_->outputs, now_.y)) return failed_call();
  for (std::size_t i = 0; i < now_.y.size(); ++i)
    if (!std::isfinite(now_.y[i])) [[unlikely]]
      return failed("output '" + description_.outputs[i].name + "' of the FMU " +
                    setup_->request.path.string() + " is " + short_number(now_.y[i]) +
                    (initializing_ ? " after initialisation" : " after DoStep"));
  return true;
}

bool CoSimulation::read_states() {
  return now_.x.empty() || instance_->get(setup_->states, now_.x) || failed_call();
}

bool CoSimulation::read_slopes(std::span<const Polynomial> inputs, double h,
                               std::span<Sample> outputs) {
  switch (slope_source()) {
    case SlopeSource::fmu: {
      const std::vector<int> first_order(setup_->outputs.references().size(), 1);
      return instance_->get_output_derivatives(setup_->outputs.references(), first_order,
                                               slopes_) ||
             failed_call();
    }
    case SlopeSource::linearization:
      return slopes_by_linearization(inputs, h, outputs);
    case SlopeSource::differences:
      slopes_at_end(samples_, sample_distance_, slopes_);
      return true;
    case SlopeSource::none:
      std::fill(slopes_.begin(), slopes_.end(), 0.0);
  }
  return true;
}

/// y' = g_x f + g_u u'.
bool CoSimulation::slopes_by_linearization(std::span<const Polynomial> inputs, double h,
                                           std::span<Sample> /*outputs*/) {
  if (linearize({}, linear_) == Outcome::failed) return false;
  const std::size_t n_st = now_.x.size(), n_in = u_.size();
  for (std::size_t i = 0; i < slopes_.size(); ++i) {
    slopes_[i] = 0.0;
    for (std::size_t j = 0; j < n_st; ++j) slopes_[i] += linear_.g_x[i * n_st + j] * linear_.f[j];
    for (std::size_t j = 0; j < n_in; ++j)
      slopes_[i] += linear_.g_u[i * n_in + j] * inputs[j].derivative(h);
  }
  return true;
}

Outcome CoSimulation::point_outputs(std::span<const Sample> inputs, Wanted wanted,
                                    std::span<Sample> outputs) {
  if (initializing_) {
    for (std::size_t i = 0; i < u_.size(); ++i) u_[i] = inputs[i].value;
    const bool taken = instance_->set(setup_->inputs, u_) || failed_call();
    if (!taken || !read_outputs() || !read_states()) return Outcome::failed;
  } else if (wanted == Wanted::values) {
    failed("co-simulation gives no outputs for new inputs without a step");
    return Outcome::failed;
  }
  for (std::size_t i = 0; i < now_.y.size(); ++i) outputs[i] = {now_.y[i], 0.0};
  if (wanted == Wanted::values) return Outcome::ok;
  return start_slopes(inputs, outputs) ? Outcome::ok : Outcome::failed;
}

/// y' before the first step: by linearization, by a trial that is rolled back, as the FMU tells, or
/// zero.
bool CoSimulation::start_slopes(std::span<const Sample> inputs, std::span<Sample> outputs) {
  std::vector<Polynomial> lines(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    lines[i].c = {inputs[i].value, inputs[i].derivative, 0.0, 0.0};
  if (description_.capabilities.linearization) {
    if (!slopes_by_linearization(lines, 0.0, outputs)) return false;
  } else if (interface_.variable_steps && description_.capabilities.rollback) {
    if (!try_forward(inputs, outputs)) return false;
  } else if (slope_source() == SlopeSource::fmu) {
    const bool good = leave_initialization() && read_slopes(lines, 0.0, outputs);
    if (!good && !instance_->last_was_discard()) return false;
    if (!good) std::fill(slopes_.begin(), slopes_.end(), 0.0);
  } else {
    std::fill(slopes_.begin(), slopes_.end(), 0.0);
  }
  for (std::size_t i = 0; i < slopes_.size(); ++i) outputs[i].derivative = slopes_[i];
  return true;
}

/// Four short steps with inputs u + u' tau, and back.
bool CoSimulation::try_forward(std::span<const Sample> inputs, std::span<Sample> outputs) {
  std::vector<Polynomial> lines(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    lines[i].c = {inputs[i].value, inputs[i].derivative, 0.0, 0.0};
  save();
  const double begin = now_.t, size = 1e-3 * h_;
  bool good = leave_initialization();
  for (int k = 0; good && k < forward_samples; ++k) {
    const double left = begin + k * size, right = begin + (k + 1) * size;
    good = true;
    for (const StepPiece& piece : pieces_to(left, right, begin, piece_settings_))
      good = good && run_piece(lines, begin, piece);
    good = good && read_outputs();
    if (good) samples_[static_cast<std::size_t>(k)] = now_.y;
  }
  restore();
  std::vector<double> y(outputs.size());
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = outputs[i].value;
  if (good) slopes_at_start(y, samples_, size, slopes_);
  return good;
}

Outcome CoSimulation::state_derivatives(std::span<const Sample> /*inputs*/,
                                        std::span<double> result) {
  return instance_->get(setup_->derivatives, result) || failed_call() ? Outcome::ok
                                                                      : Outcome::failed;
}

/// result = d unknowns / d knowns, row-major, column by column.
bool CoSimulation::partial(std::span<const FmiReference> unknowns, std::size_t rows,
                           std::span<const FmiReference> knowns, std::vector<double>& result) {
  const std::size_t columns = knowns.size();
  result.assign(rows * columns, 0.0);
  seed_.assign(1, 1.0);
  std::vector<double> column(rows);
  for (std::size_t j = 0; rows > 0 && j < columns; ++j) {
    if (!instance_->directional_derivative(unknowns, knowns.subspan(j, 1), seed_, column))
      return failed_call();
    for (std::size_t i = 0; i < rows; ++i) result[i * columns + j] = column[i];
  }
  return true;
}

Outcome CoSimulation::linearize(std::span<const Sample> /*inputs*/, Linearization& result) {
  const auto inputs = setup_->inputs.references(), outputs = setup_->outputs.references();
  const auto states = setup_->states.references(), slopes = setup_->derivatives.references();
  const std::size_t n_st = now_.x.size(), n_out = now_.y.size();
  result.f.resize(n_st);
  result.f_t.assign(n_st, 0.0);
  result.g_t.assign(n_out, 0.0);
  result.g = now_.y;
  const bool good =
      partial(slopes, n_st, states, result.f_x) && partial(slopes, n_st, inputs, result.f_u) &&
      partial(outputs, n_out, states, result.g_x) && partial(outputs, n_out, inputs, result.g_u) &&
      (instance_->get(setup_->derivatives, result.f) || failed_call());
  return good ? Outcome::ok : Outcome::failed;
}

/// Initialisation mode is left first: few FMUs find their way back into it.
void CoSimulation::save() {
  redo_possible_ = true;
  if (!leave_initialization() || !(instance_->get_state(saved_state_) || failed_call()))
    throw SimulationError(failure_);
  saved_ = now_;
}

void CoSimulation::restore() {
  if (!instance_->set_state(saved_state_) && !failed_call()) throw SimulationError(failure_);
  now_ = saved_;
}

}  // namespace

std::unique_ptr<Subsystem> make_co_simulation(std::shared_ptr<const FmuSetup> setup,
                                              const SubsystemSettings& settings) {
  return std::make_unique<CoSimulation>(std::move(setup), settings);
}

}  // namespace concord
