// Subsystems in a shared library, opened by the tests of `native:`.
#include <stdexcept>

#include "concord/registry.hpp"

namespace {

/// x'' = force/mass.
class Cart : public concord::OdeModel {
 public:
  explicit Cart(const concord::Parameters& parameters) : mass_(parameters.number("mass", 2.0)) {
    if (mass_ <= 0.0) {
      throw std::invalid_argument("mass must be positive");
    }
  }

  concord::OdeInterface interface() const override {
    return {.inputs = {{"force", "N", std::nullopt}},
            .states = {{"x", "m", 1.0}, {"v", "m/s", 0.0}},
            .outputs = {{"x", "m"}},
            .feedthrough = std::vector<concord::Feedthrough>{}};
  }

  void derivatives(double /*t*/, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override {
    dxdt[0] = x[1];
    dxdt[1] = u[0] / mass_;
  }

  void outputs(double /*t*/, std::span<const double> x, std::span<const double> /*u*/,
               std::span<double> y) override {
    y[0] = x[0];
  }

 private:
  double mass_;
};

class ThrowsNumber : public Cart {
 public:
  explicit ThrowsNumber(const concord::Parameters& parameters) : Cart(parameters) { throw 42; }
};

class NeedsSpan : public Cart {
 public:
  explicit NeedsSpan(const concord::Parameters& parameters) : Cart(parameters) {
    parameters.number("span");
  }
};

/// A cart whose code has a mistake that shows at t > 0.5.
class ThrowsLate : public Cart {
 public:
  using Cart::Cart;
  void derivatives(double t, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override {
    if (t > 0.5) {
      throw std::out_of_range("no entry 17 in the table");
    }
    Cart::derivatives(t, x, u, dxdt);
  }
};

class ThrowsNumberLate : public Cart {
 public:
  using Cart::Cart;
  void outputs(double t, std::span<const double> x, std::span<const double> u,
               std::span<double> y) override {
    if (t > 0.5) {
      throw 42;
    }
    Cart::outputs(t, x, u, y);
  }
};

}  // namespace

CONCORD_REGISTER_SUBSYSTEM("cart", Cart)
CONCORD_REGISTER_SUBSYSTEM("throws_number", ThrowsNumber)
CONCORD_REGISTER_SUBSYSTEM("needs_span", NeedsSpan)
CONCORD_REGISTER_SUBSYSTEM("throws_late", ThrowsLate)
CONCORD_REGISTER_SUBSYSTEM("throws_number_late", ThrowsNumberLate)
