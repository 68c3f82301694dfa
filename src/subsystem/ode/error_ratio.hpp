#pragma once

#include <arkode/arkode_butcher.h>

namespace concord {

/// kappa of an embedded Runge-Kutta pair of orders p + 1 and p: where x' = lambda x, the error that
/// a micro-step leaves in the solution of the higher order, which goes on, is
///
///     kappa r^(1/(p+1)) times the estimate (the difference of both), r = |estimate| / |x|,
///
/// from the leading terms of both stability functions (Hairer and Wanner, Solving ODEs II, IV.3):
/// the difference is E z^(p+1), the error C z^(p+2), and kappa = |C| / |E|^((p+2)/(p+1)); 1 at
/// least: where C was made small, as of pairs of high order, what comes behind it is larger for
/// micro-steps of the sizes that tolerances give.
double error_ratio(const ARKodeButcherTableMem& pair);

}  // namespace concord
