#pragma once

#include <array>
#include <span>
#include <vector>

#include "subsystem/fmu/setup.hpp"

namespace concord {

/// Gives a co-simulation FMU what feeds its inputs: values, and derivatives of polynomials. `u` are
/// the values that the FMU has, of all its inputs; those that nothing feeds stay.
class InputFeed {
 public:
  void note_use(const FmuSetup& setup, std::span<const char> fed);

  /// Inputs that move, and those that are held between events.
  const FmuPorts& moving() const { return moving_; }
  const FmuPorts& held() const { return held_; }

  bool feeds(std::size_t input) const { return fed_[input] != 0; }

  /// u = the samples' values.
  void take(std::span<const Sample> inputs, std::vector<double>& u) const;
  /// u = the polynomials' values at tau, of inputs that move.
  void take(std::span<const Polynomial> inputs, double tau, std::vector<double>& u) const;
  /// The same of inputs that are held; whether one has changed.
  bool take_held(std::span<const Polynomial> inputs, std::vector<double>& u) const;
  bool held_differ(std::span<const Sample> inputs, std::span<const double> u) const;
  void take_held(std::span<const Sample> inputs, std::vector<double>& u) const;

  bool set_all(FmuInstance& instance, std::span<const double> u) const {
    return instance.set(moving_, u) && instance.set(held_, u);
  }

  /// Derivatives at tau of inputs that move, before a step of `size`, up to `order`: those of the
  /// cubic; below order 3 those of the parabola or line through both ends of the step, and never a
  /// Taylor series that ends elsewhere. Only zeros are not set where nothing else was `set` before.
  /// The order up to which the FMU took them.
  int set_derivatives(FmuInstance& instance, std::span<const Polynomial> inputs, double tau,
                      double size, int order, bool& set);

 private:
  bool find_derivatives(std::span<const Polynomial> inputs, double tau, double size, int order);
  bool set_order(FmuInstance& instance, int order);

  FmuPorts moving_, held_;
  std::vector<char> fed_;
  std::vector<std::array<double, 3>> derivatives_;  ///< of each input
  std::vector<double> of_order_;
};

}  // namespace concord
