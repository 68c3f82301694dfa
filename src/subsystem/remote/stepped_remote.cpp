#include "subsystem/remote/stepped_remote.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Json = nlohmann::json;

SubsystemDescription permitted(SubsystemDescription description,
                               const SubsystemSettings& settings) {
  description.capabilities.rollback &= settings.rollback;
  return description;
}

/// Coefficients of powers of tau = s - t, the constant one first; no zeros behind the last.
Json coefficients(const Polynomial& input) {
  std::size_t count = input.c.size();
  while (count > 1 && input.c[count - 1] == 0.0) --count;
  return std::vector<double>(input.c.begin(), input.c.begin() + static_cast<std::ptrdiff_t>(count));
}

/// Inputs and their slopes, where the outputs' slopes are asked for.
Json motion(std::span<const Sample> inputs) {
  Json values = Json::array(), slopes = Json::array();
  for (const Sample& input : inputs) {
    values.push_back(input.value);
    slopes.push_back(input.derivative);
  }
  return {{"u", std::move(values)}, {"du", std::move(slopes)}};
}

}  // namespace

SteppedRemote::SteppedRemote(std::shared_ptr<const RemoteDescription> remote,
                             std::shared_ptr<RemoteLink> link, const SubsystemSettings& settings)
    : Subsystem(permitted(describe_remote(*remote), settings)),
      remote_(std::move(remote)),
      peer_(remote_, std::move(link)) {
  for (const InputVariable& input : remote_->inputs) now_.u.push_back(input.start.value_or(0.0));
  now_.y = remote_->output_starts;
  now_.parameters = remote_->parameter_values;
}

void SteppedRemote::start(const MacroStep& first, double stop) {
  now_.t = first.begin;
  now_.h = first.size();
  stop_ = stop;
  const RemoteAnswer& answer = peer_.begin(now_, stop);
  started_ = true;
  if (!take(answer)) throw SimulationError(failure_);
  saved_ = now_;
}

void SteppedRemote::count() { counters_.revived = peer_.successors(); }

/// Outputs and what is remembered, where they are given.
bool SteppedRemote::take(const RemoteAnswer& answer) {
  count();
  for (std::size_t i = 0; answer.y && i < answer.y->size(); ++i)
    if (!std::isfinite((*answer.y)[i])) {
      failure_ = "output '" + remote_->outputs[i].name + "' of " + in_words(*remote_) + " is " +
                 short_number((*answer.y)[i]) + " at t = " + short_number(now_.t) + " s";
      return false;
    }
  if (answer.y) now_.y = *answer.y;
  if (answer.state) now_.state = *answer.state;
  return true;
}

bool SteppedRemote::put_out(const RemoteAnswer& answer, Wanted wanted, std::span<Sample> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = {now_.y[i]};
  if (wanted == Wanted::values || !remote_->offers.slopes) return true;
  if (!answer.dy) {
    failure_ = in_words(*remote_) + " gave no slopes (dy) at t = " + short_number(now_.t) + " s";
    return false;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i].derivative = (*answer.dy)[i];
  return true;
}

Outcome SteppedRemote::advance(const MacroStep& step, std::span<const Polynomial> inputs,
                               InputContinuity continuity, Wanted wanted,
                               std::span<Sample> outputs) {
  ++counters_.advances;
  Json u = Json::array();
  for (const Polynomial& input : inputs)
    u.push_back(remote_->offers.polynomials ? coefficients(input) : Json(input.c[0]));
  Json question{{"t", step.begin}, {"to", step.end}, {"h", step.size()}, {"u", std::move(u)}};
  if (continuity == InputContinuity::smooth) question["joined"] = true;
  if (std::exchange(keeps_, false)) question["keep"] = true;
  if (wanted != Wanted::values && remote_->offers.slopes) {
    std::vector<Sample> ends;
    for (const Polynomial& input : inputs) ends.push_back(input.at(step.size()));
    question["slopes"] = motion(ends);
  }
  const RemoteAnswer& answer = peer_.ask("step", std::move(question), now_);
  count();
  if (answer.refused) {
    failure_ = in_words(*remote_) + " refuses a step of " + short_number(step.size()) +
               " s from t = " + short_number(step.begin) + " s: " + *answer.refused;
    peer_.is_elsewhere();
    return Outcome::failed;
  }
  if (!answer.y && !remote_->outputs.empty()) {
    failure_ = in_words(*remote_) + " gave no outputs (y) at t = " + short_number(step.end) + " s";
    throw SimulationError(failure_);
  }
  now_.t = step.end;
  now_.h = step.size();
  for (std::size_t i = 0; i < inputs.size(); ++i) now_.u[i] = inputs[i].c[0];
  return take(answer) && put_out(answer, wanted, outputs) ? Outcome::ok : Outcome::failed;
}

/// Outputs are those of the last step, whatever the inputs are now.
Outcome SteppedRemote::point_outputs(std::span<const Sample> inputs, Wanted wanted,
                                     std::span<Sample> outputs) {
  static const RemoteAnswer nothing;
  if (wanted == Wanted::values || !remote_->offers.slopes)
    return put_out(nothing, Wanted::values, outputs) ? Outcome::ok : Outcome::failed;
  Json question = motion(inputs);
  question["t"] = now_.t;
  const RemoteAnswer& answer = peer_.ask("outputs", std::move(question), now_);
  count();
  return put_out(answer, wanted, outputs) ? Outcome::ok : Outcome::failed;
}

Outcome SteppedRemote::set_parameter(std::size_t parameter, double value) {
  now_.parameters.at(parameter) = value;
  if (!started_) return Outcome::ok;
  const RemoteAnswer& answer = peer_.ask(
      "set", {{"t", now_.t}, {"parameters", {{remote_->parameters[parameter], value}}}}, now_);
  if (answer.refused) {
    failure_ = in_words(*remote_) + " refuses " + remote_->parameters[parameter] + " = " +
               short_number(value) + ": " + *answer.refused;
    return Outcome::failed;
  }
  return take(answer) ? Outcome::ok : Outcome::failed;
}

void SteppedRemote::restore() {
  now_ = saved_;
  peer_.is_elsewhere();
}

bool SteppedRemote::io(Archive& archive) {
  if (!peer_.gives_state()) {
    failure_ = "cannot pass on what it remembers: " + in_words(*remote_) + " offers no state";
    return false;
  }
  CONCORD_MEMBERS(archive, now_, counters_);
  if (archive.reading()) peer_.is_elsewhere();
  saved_ = now_;
  return true;
}

std::string in_words(const RemoteDescription& remote) {
  return (remote.side == RemoteSide::connects ? "the process at "
                                              : "the process that connects to ") +
         remote.address;
}

SubsystemDescription describe_remote(const RemoteDescription& remote) {
  SubsystemDescription result;
  result.name = remote.subsystem;
  result.kind = "remote";
  result.inputs = remote.inputs;
  result.outputs = remote.outputs;
  result.parameters = remote.parameters;
  auto& can = result.capabilities;
  can.point_outputs = true;
  can.rollback = remote.offers.state;
  can.polynomial_inputs = remote.offers.polynomials;
  can.output_derivatives = remote.offers.slopes;
  result.remarks.push_back(in_words(remote) + ", which is not asked before the run; " +
                           (remote.offers.polynomials ? "inputs are polynomials"
                                                      : "inputs are held over each macro-step"));
  return result;
}

std::unique_ptr<Subsystem> make_remote_subsystem(std::shared_ptr<const RemoteDescription> remote,
                                                 std::shared_ptr<RemoteLink> link,
                                                 const SubsystemSettings& settings) {
  return std::make_unique<SteppedRemote>(std::move(remote), std::move(link), settings);
}

}  // namespace concord
