#include "class_subsystem.hpp"

#include <cmath>
#include <utility>

#include "interpreter.hpp"

namespace concord::python {
namespace {

constexpr double trial_share = 1e-3;  ///< of a macro-step, in which slopes are tried

std::vector<double> values_of(std::span<const Sample> samples) {
  std::vector<double> result;
  for (const Sample& sample : samples) result.push_back(sample.value);
  return result;
}

std::vector<double> slopes_of(std::span<const Sample> samples) {
  std::vector<double> result;
  for (const Sample& sample : samples) result.push_back(sample.derivative);
  return result;
}

/// (-3 y0 + 4 y1 - y2) / 2d, the derivative at the first of three points, up to O(d^2).
std::vector<double> one_sided(std::span<const double> first, std::span<const double> second,
                              std::span<const double> third, double d) {
  std::vector<double> result(first.size());
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = (-3.0 * first[i] + 4.0 * second[i] - third[i]) / (2.0 * d);
  return result;
}

}  // namespace

/// Inputs as a function of time.
class ClassSubsystem::Inputs {
 public:
  Inputs(std::shared_ptr<const ClassCode> code, double begin, std::span<const Polynomial> inputs)
      : code_(std::move(code)), begin_(begin), inputs_(inputs.begin(), inputs.end()) {}

  py::object at(double t) const {
    std::vector<double> values;
    for (const Polynomial& input : inputs_) values.push_back(input(t - begin_));
    return code_->inputs.of(values);
  }

  static py::object made(std::shared_ptr<const ClassCode> code, double begin,
                         std::span<const Polynomial> inputs) {
    static const bool known = [] {
      py::class_<Inputs>(Interpreter::helper(), "Inputs").def("__call__", &Inputs::at);
      return true;
    }();
    static_cast<void>(known);
    return py::cast(Inputs(std::move(code), begin, inputs));
  }

 private:
  std::shared_ptr<const ClassCode> code_;
  double begin_;  ///< s
  std::vector<Polynomial> inputs_;
};

ClassSubsystem::ClassSubsystem(ClassCode code)
    : Subsystem(described(code)),
      code_(std::make_shared<const ClassCode>(std::move(code))),
      step_(code_->instance.attr("step")),
      slopes_at_(code_->instance.attr("slopes_at")) {}

SubsystemDescription ClassSubsystem::described(const ClassCode& code) {
  const OdeInterface interface = code.interface();
  SubsystemDescription result;
  result.inputs = interface.inputs;
  result.outputs = interface.outputs;
  result.parameters = interface.parameters;
  for (std::size_t i = 0; !interface.feedthrough && i < result.outputs.size(); ++i)
    for (std::size_t j = 0; j < result.inputs.size(); ++j) result.feedthrough.push_back({i, j});
  if (interface.feedthrough) result.feedthrough = *interface.feedthrough;
  const bool saves = code.instance.attr("saves").cast<bool>();
  auto& can = result.capabilities;
  can.polynomial_inputs = can.point_outputs = true;
  can.rollback = saves;
  can.output_derivatives = saves || !code.instance.attr("slopes_at").is_none();
  return result;
}

void ClassSubsystem::start(const MacroStep& first, double /*stop*/) {
  time_ = first.begin;
  step_size_ = first.size();
}

void ClassSubsystem::step(double h, std::span<const Polynomial> inputs) {
  const py::object u = Inputs::made(code_, time_, inputs);
  const py::object given = ClassCode::call(step_, py::float_(time_), py::float_(h), u);
  if (!given.is_none())
    throw SimulationError("step() gave " + std::string(py::repr(given)).substr(0, 200) +
                          "; it must give nothing: outputs are what outputs_at() gives");
  time_ += h;
}

std::vector<double> ClassSubsystem::outputs_for(std::span<const double> u) const {
  const py::float_ time(time_);
  const py::object given = code_->outputs_take_inputs
                               ? ClassCode::call(code_->outputs_at, time, code_->inputs.of(u))
                               : ClassCode::call(code_->outputs_at, time);
  std::vector<double> result(description_.outputs.size());
  take_numbers(given, "outputs_at", "outputs", result);
  for (std::size_t i = 0; i < result.size(); ++i)
    if (!std::isfinite(result[i]))
      throw RecoverableFailure("output '" + description_.outputs[i].name +
                               "' is not a finite number");
  return result;
}

std::vector<double> ClassSubsystem::given_slopes(std::span<const Sample> inputs) const {
  const py::object given =
      ClassCode::call(slopes_at_, py::float_(time_), code_->inputs.of(values_of(inputs)),
                      code_->inputs.of(slopes_of(inputs)));
  std::vector<double> result(description_.outputs.size());
  take_numbers(given, "slopes_at", "outputs", result);
  return result;
}

/// Outputs after each of two steps of size d, with inputs that move on as they do here.
std::array<std::vector<double>, 2> ClassSubsystem::tried_outputs(std::span<const Sample> inputs,
                                                                 double d) {
  std::array<std::vector<double>, 2> result;
  std::vector<Polynomial> on;
  for (const Sample& input : inputs) on.push_back({{input.value, input.derivative}});
  for (std::vector<double>& outputs : result) {
    step(d, on);
    for (Polynomial& input : on) input = input.moved_to(d);
    std::vector<double> u;
    for (const Polynomial& input : on) u.push_back(input.c[0]);
    outputs = outputs_for(u);
  }
  return result;
}

/// Two short steps on, and back, also where one of them fails.
std::vector<double> ClassSubsystem::tried_slopes(std::span<const Sample> inputs,
                                                 std::span<const double> values) {
  const Memory here = memory();
  const double d = trial_share * step_size_;
  try {
    const auto tried = tried_outputs(inputs, d);
    remember(here);
    return one_sided(values, tried[0], tried[1], d);
  } catch (...) {
    remember(here);
    throw;
  }
}

std::vector<double> ClassSubsystem::slopes_for(std::span<const Sample> inputs,
                                               std::span<const double> values) {
  return slopes_at_.is_none() ? tried_slopes(inputs, values) : given_slopes(inputs);
}

void ClassSubsystem::put_out(std::span<const Sample> inputs, Wanted wanted,
                             std::span<Sample> outputs) {
  const std::vector<double> values = outputs_for(values_of(inputs));
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = {values[i]};
  if (wanted == Wanted::values || !description_.capabilities.output_derivatives) return;
  const std::vector<double> slopes = slopes_for(inputs, values);
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i].derivative = slopes[i];
}

Outcome ClassSubsystem::advance(const MacroStep& macro_step, std::span<const Polynomial> inputs,
                                InputContinuity /*continuity*/, Wanted wanted,
                                std::span<Sample> outputs) {
  time_ = macro_step.begin;
  step_size_ = macro_step.size();
  code_->guarded([&] {
    step(macro_step.size(), inputs);
    time_ = macro_step.end;
    std::vector<Sample> ends;
    for (const Polynomial& input : inputs) ends.push_back(input.at(macro_step.size()));
    put_out(ends, wanted, outputs);
  });
  ++counters_.advances;
  return Outcome::ok;
}

Outcome ClassSubsystem::point_outputs(std::span<const Sample> inputs, Wanted wanted,
                                      std::span<Sample> outputs) {
  code_->guarded([&] { put_out(inputs, wanted, outputs); });
  return Outcome::ok;
}

Outcome ClassSubsystem::set_parameter(std::size_t parameter, double value) {
  code_->guarded([&] { code_->instance.attr("set")(code_->tunable.at(parameter), value); });
  return Outcome::ok;
}

std::optional<double> ClassSubsystem::parameter(std::size_t parameter) {
  std::optional<double> value;
  code_->guarded(
      [&] { value = code_->instance.attr("get")(code_->tunable.at(parameter)).cast<double>(); });
  return value;
}

ClassSubsystem::Memory ClassSubsystem::memory() const {
  Memory result{{}, time_};
  code_->guarded([&] { result.bytes = code_->instance.attr("memory")().cast<std::string>(); });
  return result;
}

void ClassSubsystem::remember(const Memory& memory) {
  time_ = memory.time;
  code_->guarded([&] { code_->instance.attr("remember")(py::bytes(memory.bytes)); });
}

bool ClassSubsystem::io(Archive& archive) {
  if (!description_.capabilities.rollback) {
    failure_ = "cannot pass on what it remembers: give its class save() and restore(memory)";
    return false;
  }
  Memory now = archive.reading() ? Memory() : memory();
  CONCORD_MEMBERS(archive, now, step_size_);
  if (archive.reading()) remember(now);
  return true;
}

}  // namespace concord::python
