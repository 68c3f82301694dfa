// A subsystem whose failure is chosen by parameters: what it does, in which of its functions, and
// from which time on. Opened by the fault tests.
#include <cstdint>
#include <limits>
#include <string>

#include "concord/registry.hpp"
#include "faults.hpp"

namespace {

using concord::Parameters;

/// x'' = (load - x)/10, which fails.
class Faulty : public concord::OdeModel {
 public:
  explicit Faulty(const Parameters& parameters)
      : fault_(parameters.text("fault", "none")),
        call_(parameters.text("call", "derivatives")),
        time_(parameters.number("time", 0.5)),
        rank_(static_cast<int>(parameters.integer("rank", -1))),
        in_run_(parameters.integer("instance", 1)) {
    ++made;
    at("constructor", std::numeric_limits<double>::infinity());
  }
  ~Faulty() override {
    if (call_ == "destructor" && passed_) at("destructor", time_);
  }

  concord::OdeInterface interface() const override {
    at("interface", std::numeric_limits<double>::infinity());
    return {.inputs = {{"load", "", 0.0}},
            .states = {{"x", "", 1.0}, {"v", "", 0.0}},
            .outputs = {{"x", ""}},
            .feedthrough = std::vector<concord::Feedthrough>{}};
  }

  void derivatives(double t, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override {
    dxdt[0] = x[1];
    dxdt[1] = 0.1 * (u[0] - x[0]);
    passed_ = passed_ || t >= time_;
    if (at("derivatives", t)) dxdt[1] = std::numeric_limits<double>::quiet_NaN();
  }

  void outputs(double t, std::span<const double> x, std::span<const double>,
               std::span<double> y) override {
    y[0] = x[0];
    if (at("outputs", t)) y[0] = std::numeric_limits<double>::quiet_NaN();
  }

  bool jacobians(double t, std::span<const double>, std::span<const double>,
                 const concord::Jacobians& result) override {
    const double f_x[] = {0.0, 1.0, -0.1, 0.0}, f_u[] = {0.0, 0.1}, g_x[] = {1.0, 0.0};
    for (std::size_t i = 0; i < result.f_x.size(); ++i) result.f_x[i] = f_x[i];
    for (std::size_t i = 0; i < result.f_u.size(); ++i) result.f_u[i] = f_u[i];
    for (std::size_t i = 0; i < result.g_x.size(); ++i) result.g_x[i] = g_x[i];
    for (double& g_u : result.g_u) g_u = 0.0;
    if (at("jacobians", t)) result.f_x[0] = std::numeric_limits<double>::quiet_NaN();
    return true;
  }

  bool time_derivatives(double t, std::span<const double>, std::span<const double>,
                        const concord::TimeDerivatives& result) override {
    for (double& f_t : result.f_t) f_t = 0.0;
    for (double& g_t : result.g_t) g_t = 0.0;
    if (at("time_derivatives", t)) result.f_t[0] = std::numeric_limits<double>::quiet_NaN();
    return true;
  }

  bool output_slopes(double t, std::span<const double>, std::span<const double>,
                     const concord::Motion& motion, std::span<double> dydt) override {
    dydt[0] = motion.dxdt[0];
    if (at("output_slopes", t)) dydt[0] = std::numeric_limits<double>::quiet_NaN();
    return true;
  }

 private:
  /// Fails if it is time in `call`; true: the call is to give a NaN.
  bool at(const std::string& call, double t) const {
    const bool mine = rank_ < 0 || rank_ == faults::own_rank();
    if (call != call_ || t < time_ || !mine || made < in_run_) return false;
    faults::commit(fault_);
    return fault_ == "nan";
  }

  static inline std::int64_t made = 0;
  std::string fault_, call_;
  double time_;
  int rank_;
  std::int64_t in_run_;  ///< fails from this instance in the process on
  bool passed_ = false;
};

}  // namespace

CONCORD_REGISTER_SUBSYSTEM("faulty", Faulty)
