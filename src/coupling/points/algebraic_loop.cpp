#include "coupling/points/algebraic_loop.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "support/agreement.hpp"

namespace concord {
namespace {

std::string singular_in_words(const LoopSystem& system) {
  std::ostringstream text;
  text << "algebraic loop " << system.equations().text() << " is singular at t = " << system.time()
       << " s: det(I - P D) of its direct feedthrough D is 0, so that it has no solution, or many; "
          "change its gains, or put a state into it";
  return text.str();
}

/// Where the last rows, in their sizes, are farthest from 0; nothing where there are none.
std::optional<std::size_t> worst_row(const LoopSystem& system) {
  const auto& rows = system.rows();
  if (rows.empty() || !system.has_scales()) {
    return std::nullopt;
  }
  const auto scaled = [&](std::size_t r) { return std::abs(rows[r].value) / system.row_scale(r); };
  std::size_t worst = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    worst = scaled(row) > scaled(worst) ? row : worst;
  }
  return std::isfinite(rows[worst].value) ? std::optional(worst) : std::nullopt;
}

std::string failure_in_words(const LoopSystem& system, std::span<const Sample> guess,
                             const std::string& reason) {
  constexpr std::size_t most = 8;
  const LoopEquations& equations = system.equations();
  std::ostringstream text;
  text << "algebraic loop " << equations.text()
       << " has no solution that Newton's method finds at t = " << system.time() << " s from ";
  for (std::size_t row = 0; row < std::min(most, guess.size()); ++row) {
    text << (row > 0 ? ", " : "") << equations.name(row) << " = " << guess[row].value;
  }
  text << (guess.size() > most ? ", ..." : "") << " (" << reason;
  if (const auto worst = worst_row(system)) {
    text << "; left at " << equations.name(*worst) << ": " << system.rows()[*worst].value;
  }
  text << "); give start values of these inputs nearer to a solution, or try "
          "-loop_snes_linesearch_type l2 or -loop_snes_type ngmres";
  return text.str();
}

}  // namespace

AlgebraicLoop::AlgebraicLoop(RankNetwork& subsystems, const FeedthroughComponent& loop)
    : system_(subsystems, loop), newton_(system_), slopes_(system_) {}

bool AlgebraicLoop::solve_values(PointEvaluation& point, std::span<Sample> inputs,
                                 std::span<Sample> outputs) {
  system_.enter(point, Wanted::values, inputs, outputs);
  failure_.clear();
  if (!point.whole()) {
    newton_.drop_jacobian();
  }
  if (!started_) {
    system_.equations().take_missing_starts(point, inputs, outputs);
  }
  system_.equations().read(inputs, guess_);
  started_ = from_guess() || from_elsewhere() || little_by_little();
  if (!started_) {
    explain();
  }
  if (!point.whole()) {
    newton_.drop_jacobian();
  }
  system_.equations().write(system_.u(), inputs);
  return started_;
}

bool AlgebraicLoop::from_guess() {
  system_.u() = guess_;
  if (newton_.keeps_jacobian() && attempt()) {
    return true;
  }
  system_.u() = guess_;
  newton_.drop_jacobian();
  if (attempt()) {
    return true;
  }
  explain();
  return false;
}

/// From the variables' sizes where the guess is 0; from beside the guess where the loop is singular
/// there, which need not hold elsewhere.
bool AlgebraicLoop::from_elsewhere() {
  const bool singular_at_guess = system_.singular();
  const auto sizes = system_.equations().sizes();
  auto& u = system_.u();
  u = guess_;
  bool changed = singular_at_guess;
  for (std::size_t row = 0; row < u.size(); ++row) {
    double& value = u[row].value;
    if (value == 0.0 && sizes[row] > 0.0) {
      value = sizes[row];
      changed = true;
    } else if (singular_at_guess) {
      value += (0.1 + 0.01 * static_cast<double>(row % 7)) * system_.column_scale(row);
    }
  }
  if (changed && attempt()) {
    return true;
  }
  if (singular_at_guess && !system_.singular()) {
    failure_.clear();
    explain();
  }
  return false;
}

/// From s = 0, where u_0 is the solution, to s = 1.
bool AlgebraicLoop::little_by_little() {
  constexpr double smallest = 1.0 / 64.0;
  system_.u() = guess_;
  if (system_.singular() || !system_.evaluate()) {
    return false;
  }
  system_.open();
  std::vector<Sample> last = guess_;
  double reached = 0.0;
  for (double step = 0.25; reached < 1.0 && step >= smallest;) {
    const double tried = std::min(1.0, reached + step);
    system_.close_by(tried);
    const bool solved = attempt();
    system_.close_by(1.0);
    if (solved) {
      last = system_.u();
      reached = tried;
      step *= 2.0;
    } else {
      system_.u() = last;
      step *= 0.5;
    }
    if (reached < 1.0) {
      newton_.drop_jacobian();
    }
  }
  return reached == 1.0;
}

/// From the system's u, by a kept Jacobian or a new one.
bool AlgebraicLoop::attempt() {
  const auto failure = newton_.solve();
  reason_ = failure.value_or("");
  return !failure;
}

bool AlgebraicLoop::solve_derivatives(PointEvaluation& point, Wanted wanted,
                                      std::span<Sample> inputs, std::span<Sample> outputs) {
  const bool bends = wanted == Wanted::up_to_curvatures;
  system_.enter(point, wanted, inputs, outputs);
  failure_.clear();
  system_.equations().read(inputs, system_.u());
  if (slopes_.solve(bends ? &Sample::curvature : &Sample::derivative)) {
    return true;
  }
  reason_ = bends ? "its curvatures are not found" : "its slopes are not found";
  explain();
  return false;
}

/// The kept Jacobian, if any, is what the ranks that take part have in common.
void AlgebraicLoop::io(Archive& archive, MPI_Comm comm) {
  std::vector<double> kept;
  if (!archive.reading()) {
    const bool any = here() && newton_.keeps_jacobian();
    kept = known_to_some(comm, any ? system_.linearized() : std::vector<double>());
    started_ = agree_on_largest(comm, started_ ? 1 : 0) != 0;
  }
  CONCORD_MEMBERS(archive, started_, kept);
  if (archive.reading() && here()) {
    if (!kept.empty()) system_.take_linearized(kept);
    newton_.keep_jacobian(!kept.empty());
  }
}

/// The first reason counts.
void AlgebraicLoop::explain() {
  if (failure_.empty()) {
    failure_ = system_.singular() ? singular_in_words(system_)
                                  : failure_in_words(system_, guess_, reason_);
  }
}

}  // namespace concord
