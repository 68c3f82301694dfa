#include "subsystem/fmu/input_feed.hpp"

#include <algorithm>

namespace concord {

void InputFeed::note_use(const FmuSetup& setup, std::span<const char> fed) {
  fed_.assign(fed.begin(), fed.end());
  moving_ = setup.ports(setup.input_variables, fed, SignalKind::continuous);
  held_ = setup.ports(setup.input_variables, fed, SignalKind::held);
  derivatives_.resize(fed.size());
  of_order_.resize(fed.size());
}

void InputFeed::take(std::span<const Sample> inputs, std::vector<double>& u) const {
  for (std::size_t i = 0; i < u.size(); ++i)
    if (fed_[i] != 0) u[i] = inputs[i].value;
}

void InputFeed::take(std::span<const Polynomial> inputs, double tau, std::vector<double>& u) const {
  for (const std::size_t i : moving_.places()) u[i] = inputs[i](tau);
}

bool InputFeed::take_held(std::span<const Polynomial> inputs, std::vector<double>& u) const {
  bool changed = false;
  for (const std::size_t i : held_.places()) {
    changed = changed || inputs[i].c[0] != u[i];
    u[i] = inputs[i].c[0];
  }
  return changed;
}

bool InputFeed::held_differ(std::span<const Sample> inputs, std::span<const double> u) const {
  const auto& places = held_.places();
  return std::any_of(places.begin(), places.end(),
                     [&](std::size_t i) { return inputs[i].value != u[i]; });
}

void InputFeed::take_held(std::span<const Sample> inputs, std::vector<double>& u) const {
  for (const std::size_t i : held_.places()) u[i] = inputs[i].value;
}

int InputFeed::set_derivatives(FmuInstance& instance, std::span<const Polynomial> inputs,
                               double tau, double size, int order, bool& set) {
  const bool any = find_derivatives(inputs, tau, size, order);
  if (!any && !set) return order;
  set = any;
  for (int taken = 0; taken < order; ++taken)
    if (!set_order(instance, taken + 1)) return taken;
  return order;
}

/// Whether any is not 0.
bool InputFeed::find_derivatives(std::span<const Polynomial> inputs, double tau, double size,
                                 int order) {
  bool any = false;
  for (const std::size_t i : moving_.places()) {
    const auto& u = inputs[i];
    auto& d = derivatives_[i];
    const double secant = (u(tau + size) - u(tau)) / size;
    const double bend = (u(tau + size) - 2.0 * u(tau + 0.5 * size) + u(tau)) * 4.0 / (size * size);
    if (order >= 3)
      d = {u.derivative(tau), u.curvature(tau), 6 * u.c[3]};
    else if (order == 2)
      d = {secant - 0.5 * size * bend, bend, 0.0};
    else
      d = {secant, 0.0, 0.0};
    any = any || d != std::array<double, 3>{};
  }
  return any;
}

bool InputFeed::set_order(FmuInstance& instance, int order) {
  for (const std::size_t i : moving_.places())
    of_order_[i] = derivatives_[i][static_cast<std::size_t>(order - 1)];
  return instance.set_input_derivatives(moving_, order, of_order_);
}

}  // namespace concord
