#include <algorithm>
#include <iterator>
#include <span>

#include "coupling/method.hpp"

namespace concord {
namespace {

bool is_explicit(const Method& m) { return m.solve.from_past; }

/// "zoh, foh or soh": the holds of this kind, the simplest first.
std::string holds_that(bool (*kind)(const Hold&), const char* conjunction) {
  std::vector<Hold> holds;
  std::copy_if(all_holds().begin(), all_holds().end(), std::back_inserter(holds), kind);
  std::stable_sort(holds.begin(), holds.end(),
                   [](const Hold& a, const Hold& b) { return a.degree < b.degree; });
  std::string text;
  for (std::size_t i = 0; i < holds.size(); ++i) {
    const char* separator = i == 0 ? "" : i + 1 < holds.size() ? ", " : conjunction;
    text += separator + std::string(holds[i].word);
  }
  return text;
}

bool takes_guess(const Hold& hold) { return hold.takes_guess(); }
bool only_from_guess(const Hold& hold) { return !hold.from_past; }
bool from_past(const Hold& hold) { return hold.from_past; }
bool only_from_past(const Hold& hold) { return hold.only_from_past(); }

/// Two choices that make no sense together, and what to do.
struct Contradiction {
  using Reason = std::string (*)(const Method&);

  bool (*holds)(const Method&);
  const char* text;
  Reason reason = nullptr;  ///< in place of the text, where it depends on the method

  std::string told(const Method& method) const { return reason != nullptr ? reason(method) : text; }
};

constexpr Contradiction of_holds[] = {
    {[](const Method& m) { return is_explicit(m) && !m.hold.from_past; }, nullptr,
     [](const Method& m) {
       return "-cosim_hold " + holds_that(only_from_guess, " and ") +
              " need a guess of the end of the macro-step, which -cosim_solve " +
              std::string(m.solve.word) + " doesn't make; use -cosim_solve snes, or -cosim_hold " +
              holds_that(from_past, " or ");
     }},
    {[](const Method& m) { return m.solve.iterates && m.hold.only_from_past(); }, nullptr,
     [](const Method& m) {
       return "-cosim_hold " + holds_that(only_from_past, " and ") +
              " take the inputs from the past, so that -cosim_solve " + std::string(m.solve.word) +
              " has nothing to solve for; use -cosim_solve none, or -cosim_hold " +
              holds_that(takes_guess, " or ");
     }},
    {[](const Method& m) { return m.hold_order > m.hold.highest_order; }, nullptr,
     [](const Method& m) {
       return "-cosim_hold " + std::string(m.hold.word) +
              " ends each macro-step at a value extrapolated with -cosim_hold_order 0 or " +
              std::to_string(m.hold.highest_order) +
              "; use -cosim_hold extrapolate for higher orders";
     }},
    {[](const Method& m) { return m.solve.refuses_hold != nullptr && !m.hold.estimated; }, nullptr,
     [](const Method& m) { return std::string(m.solve.refuses_hold); }},
    {[](const Method& m) { return m.hold_order > 0 && !is_explicit(m); },
     "-cosim_hold_order is the order of extrapolation from the past, with -cosim_solve none; leave "
     "it out, or use -cosim_type jacobi"},
    {[](const Method& m) {
       return m.extrapolation == Extrapolation::hermite && (!is_explicit(m) || m.hold_order == 0);
     },
     "-cosim_extrapolation hermite extrapolates with slopes of the last communication points, with "
     "-cosim_solve none and -cosim_hold_order 1 to 3; leave it out, or use -cosim_type jacobi "
     "-cosim_hold extrapolate"},
    {[](const Method& m) {
       return m.hold.ends_with_curvature() && m.estimator.response == Response::stehfest;
     },
     "-missiles_laplace stehfest inverts responses to inputs of degree 5 to two digits only; leave "
     "it out, or use -cosim_hold hermite"},
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
       return m.schedule.half_steps_apart &&
              (!is_explicit(m) || !m.hold.is_constant() || m.hold_order > 0 ||
               m.takes_steps_twice() || m.shapes_inputs());
     },
     "-cosim_schedule staggered_grid holds every input at its value in the middle of the "
     "macro-step, without a guess, extrapolation or a second run; leave -cosim_solve, -cosim_hold, "
     "-cosim_hold_order, -cosim_adapt richardson, -cosim_balance and -cosim_smooth_switching out "
     "(-cosim_type staggered_grid)"},
    {[](const Method& m) {
       return m.solve.refuses_schedule != nullptr && !m.schedule.is_parallel();
     },
     nullptr, [](const Method& m) { return std::string(m.solve.refuses_schedule); }},
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
       return m.solve.refuses_estimate != nullptr && m.estimate != ErrorEstimate::none;
     },
     nullptr, [](const Method& m) { return std::string(m.solve.refuses_estimate); }},
    {[](const Method& m) {
       return m.takes_steps_twice() &&
              (!is_explicit(m) || m.hold.begins_at_last_end || m.hold_order > 2);
     },
     "-cosim_adapt richardson and richardson_modified estimate the error of explicit methods with "
     "inputs extrapolated with order 0 to 2; use -cosim_solve none with -cosim_hold zoh or "
     "extrapolate, or another -cosim_adapt"},
    {[](const Method& m) { return m.takes_steps_twice() && m.shapes_inputs(); },
     "-cosim_adapt richardson and richardson_modified compare plainly extrapolated macro-steps of "
     "two sizes, which -cosim_balance, -cosim_record balance and -cosim_smooth_switching change; "
     "use -cosim_adapt none"},
    {[](const Method& m) {
       return m.estimate == ErrorEstimate::richardson_modified && !m.schedule.is_parallel();
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
        reasons.push_back(one.told(method));
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
