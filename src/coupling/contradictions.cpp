#include <span>

#include "coupling/method.hpp"

namespace concord {
namespace {

bool past(const Method& m) { return m.hold == Hold::extrapolate || m.hold == Hold::extripol; }
bool iterates(const Method& m) { return m.solve == Solve::snes; }
bool is_explicit(const Method& m) { return m.solve == Solve::none; }

/// Two choices that make no sense together, and what to do.
struct Contradiction {
  bool (*holds)(const Method&);
  const char* reason;
};

constexpr Contradiction of_holds[] = {
    {[](const Method& m) { return is_explicit(m) && !past(m) && m.hold != Hold::zoh; },
     "-cosim_hold foh, soh and hermite need a guess of the end of the macro-step, which "
     "-cosim_solve none doesn't make; use -cosim_solve snes, or -cosim_hold zoh, extrapolate or "
     "extripol"},
    {[](const Method& m) { return iterates(m) && past(m); },
     "-cosim_hold extrapolate and extripol take the inputs from the past, so that -cosim_solve "
     "snes "
     "has nothing to solve for; use -cosim_solve none, or -cosim_hold zoh, foh, soh or hermite"},
    {[](const Method& m) { return m.hold == Hold::extripol && m.hold_order > 1; },
     "-cosim_hold extripol ends each macro-step at a value extrapolated with -cosim_hold_order 0 "
     "or "
     "1; use -cosim_hold extrapolate for higher orders"},
    {[](const Method& m) { return m.solve == Solve::missiles && m.hold != Hold::hermite; },
     "-cosim_solve missiles predicts values and slopes for -cosim_hold hermite; leave the hold "
     "out, "
     "or use -cosim_solve snes"},
    {[](const Method& m) { return m.hold_order > 0 && !is_explicit(m); },
     "-cosim_hold_order is the order of extrapolation from the past, with -cosim_solve none; leave "
     "it out, or use -cosim_type jacobi"},
    {[](const Method& m) {
       return m.extrapolation == Extrapolation::hermite && (!is_explicit(m) || m.hold_order == 0);
     },
     "-cosim_extrapolation hermite extrapolates with slopes of the last communication points, with "
     "-cosim_solve none and -cosim_hold_order 1 to 3; leave it out, or use -cosim_type jacobi "
     "-cosim_hold extrapolate"},
};

constexpr Contradiction of_constraints[] = {
    {[](const Method& m) { return m.constraints != Constraints::projection && !is_explicit(m); },
     "-cosim_constraints overlapping and staggered are ways to end an explicit macro-step; use "
     "-cosim_solve none (-cosim_type jacobi), or leave it out: the other solves have the "
     "constraints among their equations"},
    {[](const Method& m) {
       return m.constraints == Constraints::overlapping &&
              m.extrapolation == Extrapolation::hermite;
     },
     "-cosim_constraints overlapping finds unknowns without slopes, which -cosim_extrapolation "
     "hermite needs; use projection, or -cosim_extrapolation lagrange"},
};

constexpr Contradiction of_schedules[] = {
    {[](const Method& m) {
       return m.schedule == Schedule::staggered_grid &&
              (!is_explicit(m) || m.hold != Hold::zoh || m.hold_order > 0 ||
               m.takes_steps_twice() || m.shapes_inputs());
     },
     "-cosim_schedule staggered_grid holds every input at its value in the middle of the "
     "macro-step, without a guess, extrapolation or a second run; leave -cosim_solve, -cosim_hold, "
     "-cosim_hold_order, -cosim_adapt richardson, -cosim_balance and -cosim_smooth_switching out "
     "(-cosim_type staggered_grid)"},
    {[](const Method& m) { return m.schedule != Schedule::parallel && m.solve == Solve::missiles; },
     "-cosim_solve missiles knows all inputs at t_{N+1} from one linear system before any "
     "subsystem "
     "runs, so that -cosim_schedule sequential and hierarchical have nothing to bring; use "
     "-cosim_schedule parallel, or -cosim_solve snes"},
    {[](const Method& m) {
       return m.schedule != Schedule::parallel && m.solve == Solve::monolithic;
     },
     "-cosim_type monolithic is one system of equations, without an order of subsystems; leave "
     "-cosim_schedule out"},
};

/// Of what explicit methods alone can do to their inputs.
constexpr Contradiction of_balance[] = {
    {[](const Method& m) { return !is_explicit(m) && m.takes_balance(); },
     "-cosim_balance and -cosim_record balance are about what holds from the past miss; the other "
     "solves end each macro-step where inputs and outputs agree; use -cosim_solve none "
     "(-cosim_type "
     "jacobi), or leave them out"},
    {[](const Method& m) { return !is_explicit(m) && m.smooth_switching; },
     "-cosim_smooth_switching joins holds from the past, which -cosim_solve none alone has; use "
     "-cosim_type jacobi, or leave it out"},
    {[](const Method& m) { return m.balance == Balance::none && m.balance_spread > 1; },
     "-cosim_balance_spread spreads the corrections of -cosim_balance constant or smooth, of which "
     "neither is asked for; choose one, or leave the spread out"},
    {[](const Method& m) { return m.balance == Balance::constant && m.smooth_switching; },
     "-cosim_balance constant makes inputs jump, which -cosim_smooth_switching is there to avoid; "
     "use -cosim_balance smooth"},
};

constexpr Contradiction of_step_control[] = {
    {[](const Method& m) {
       return m.solve == Solve::monolithic && m.estimate != ErrorEstimate::none;
     },
     "-cosim_adapt estimates errors of the coupling, of which -cosim_type monolithic has none; "
     "leave it out"},
    {[](const Method& m) {
       return m.takes_steps_twice() &&
              (!is_explicit(m) || m.hold == Hold::extripol || m.hold_order > 2);
     },
     "-cosim_adapt richardson and richardson_modified estimate the error of explicit methods with "
     "inputs extrapolated with order 0 to 2; use -cosim_solve none with -cosim_hold zoh or "
     "extrapolate, or another -cosim_adapt"},
    {[](const Method& m) { return m.takes_steps_twice() && m.shapes_inputs(); },
     "-cosim_adapt richardson and richardson_modified compare plainly extrapolated macro-steps of "
     "two sizes, which -cosim_balance, -cosim_record balance and -cosim_smooth_switching change; "
     "use -cosim_adapt none"},
    {[](const Method& m) {
       return m.estimate == ErrorEstimate::richardson_modified && m.schedule != Schedule::parallel;
     },
     "-cosim_adapt richardson_modified has its constants for -cosim_schedule parallel; use "
     "-cosim_adapt richardson"},
    {[](const Method& m) {
       return m.estimate == ErrorEstimate::richardson_modified &&
              m.extrapolation == Extrapolation::hermite;
     },
     "-cosim_adapt richardson_modified has its constants for -cosim_extrapolation lagrange; use "
     "-cosim_adapt richardson"},
};

}  // namespace

std::vector<std::string> contradictions(const Method& method) {
  std::vector<std::string> reasons;
  const auto collect = [&](std::span<const Contradiction> table) {
    for (const Contradiction& one : table) {
      if (one.holds(method)) {
        reasons.emplace_back(one.reason);
      }
    }
  };
  collect(of_holds);
  collect(of_constraints);
  collect(of_schedules);
  collect(of_balance);
  collect(of_step_control);
  return reasons;
}

}  // namespace concord
