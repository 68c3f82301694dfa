#include "subsystem/ode/integrator.hpp"

namespace concord {

std::unique_ptr<Integrator> make_integrator(RightHandSide& rhs, IntegratorKind kind) {
  switch (kind) {
    case IntegratorKind::erk:
      return make_erk(rhs);
    case IntegratorKind::dirk:
      return make_dirk(rhs);
    case IntegratorKind::cvode_bdf:
      return make_cvode_bdf(rhs);
    case IntegratorKind::cvode_adams:
      return make_cvode_adams(rhs);
    case IntegratorKind::automatic:
      break;
  }
  return make_automatic(rhs);
}

std::string integration_failure(const char* method, const RightHandSide& rhs,
                                const std::string& reason, double tau) {
  if (rhs.failed_close_to(tau)) return rhs.model().failure();
  return std::string(method) + ": " + reason + " at t = " + in_words(rhs.begin() + tau) + " s";
}

}  // namespace concord
