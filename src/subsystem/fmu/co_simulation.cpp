#include "subsystem/fmu/co_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "concord/errors.hpp"

namespace concord {

namespace {

constexpr int most_returns = 10'000;  ///< early returns and discards within one macro-step

}  // namespace

CoSimulation::CoSimulation(std::shared_ptr<const FmuSetup> setup, const SubsystemSettings& settings)
    : Subsystem(setup->description),
      fmu_(std::move(setup), settings),
      slopes_(fmu_, capabilities_of(fmu_.setup(), fmu_.use()).linearization),
      lines_(description_.inputs.size()),
      last_lines_(lines_.size()),
      taken_back_(settings.taken_back) {
  for (const FmiVariable* output : fmu_.setup().output_variables) {
    continuous_.insert(continuous_.end(), output->size,
                       kind_of(*output) == SignalKind::continuous ? 1 : 0);
  }
  description_.capabilities = capabilities_of(fmu_.setup(), fmu_.use());
  description_.events = tells_events(fmu_.use());
  if (!settings.state_derivatives) description_.capabilities.state_derivatives = false;
  note_use(std::vector<char>(description_.inputs.size(), 1),
           std::vector<char>(description_.outputs.size(), 1));
}

/// Estimators look at all outputs.
void CoSimulation::note_use(std::span<const char> fed, std::span<const char> looked_at) {
  const bool all = description_.capabilities.linearization;
  fmu_.note_use(fed, all ? std::span<const char>() : looked_at);
}

PieceSettings CoSimulation::settings() const {
  return piece_settings(fmu_.use(), finds_jumps() || !description_.feedthrough.empty());
}

bool CoSimulation::told(bool good) {
  if (!good) failure_ = fmu_.failure();
  return good;
}

Outcome CoSimulation::outcome_unless_over(bool good) {
  if (fmu_.over()) throw EndOfSimulation(fmu_.failure());
  return outcome(good);
}

void CoSimulation::start(const MacroStep& first, double stop) {
  h_ = first.size();
  fmu_.start(first.begin, stop);
  description_.events = knows_events();
  saved_.point = fmu_.now();
}

Outcome CoSimulation::end_initialization(std::span<const Sample> inputs) {
  if (!initializing()) return Outcome::ok;
  const bool good = fmu_.end_initialization(inputs);
  description_.events = knows_events();
  return outcome(good);
}

Outcome CoSimulation::advance(const MacroStep& step, std::span<const Polynomial> inputs,
                              InputContinuity /*continuity*/, Wanted wanted,
                              std::span<Sample> outputs) {
  ++counters_.advances;
  const bool good = go(step, inputs, wanted);
  h_ = step.size();
  longest_ = std::max(longest_, h_);
  const std::vector<double>& y = fmu_.now().y;
  for (std::size_t i = 0; good && i < y.size(); ++i)
    outputs[i] = {y[i], wanted == Wanted::values ? 0.0 : slopes_.values()[i]};
  return outcome_unless_over(good);
}

bool CoSimulation::go(const MacroStep& step, std::span<const Polynomial> inputs, Wanted wanted) {
  if (fmu_.may_go_back() && fmu_.now().t == saved_.point.t) usable_ = usable_ && look_ahead();
  return usable_ && one_step_size(step) && run_again_if_frozen(inputs, step, wanted) &&
         fmu_.read_states() &&
         (wanted == Wanted::values || slopes_.at_end(inputs, step.size(), pieces_.distance()));
}

bool CoSimulation::one_step_size(const MacroStep& step) {
  constexpr double same = 1e-9;
  if (fmu_.use().variable_steps) return true;
  if (only_size_ == 0.0) only_size_ = step.size();
  return std::abs(step.size() - only_size_) <= same * only_size_ ||
         fmu_.failed(fmu_.words() + " takes steps of one size only (" + short_number(only_size_) +
                     " s), not one of " + short_number(step.size()) +
                     " s; choose a fixed -cosim_step that divides the experiment");
}

/// In the first macro-steps that may be taken back: an FMU that stands still then, and only then,
/// gives no results.
bool CoSimulation::run_again_if_frozen(std::span<const Polynomial> inputs, const MacroStep& step,
                                       Wanted wanted) {
  if (!moves_.looks() || !fmu_.may_go_back() || fmu_.now().t != saved_.point.t)
    return run(inputs, step, wanted);
  const auto moved = [&] {
    return fmu_.now().y != saved_.point.y || fmu_.now().x != saved_.point.x || fmu_.now().event_due;
  };
  if (!run(inputs, step, wanted) || !fmu_.read_states()) return false;
  moves_.look(moved());
  if (moved()) return true;
  restore();
  fmu_.may_go_back(false);
  const bool good = usable_ && run(inputs, step, wanted) && fmu_.read_states();
  fmu_.may_go_back(true);
  if (!good) return false;
  if (moved())
    return fmu_.failed(fmu_.words() +
                       " stands still as long as it may be set back "
                       "(noSetFMUStatePriorToCurrentPoint = false), so that its rollback is of no "
                       "use; withhold it (-subsystem_" +
                       description_.name + "_rollback false)");
  restore();
  return usable_ && run(inputs, step, wanted);
}

bool CoSimulation::run(std::span<const Polynomial> inputs, const MacroStep& step, Wanted wanted) {
  const bool constant = std::all_of(inputs.begin(), inputs.end(), [](const Polynomial& u) {
    return std::all_of(u.c.begin() + 1, u.c.end(), [](double c) { return c == 0.0; });
  });
  const bool by_differences =
      wanted == Wanted::values_and_derivatives && slopes_.source() == SlopeSource::differences;
  slopes_.samples().begin();
  const auto under_way = fmu_.begin(step.end);
  seeks_ = finds_jumps() && fmu_.may_go_back() && fmu_.now().t == saved_.point.t;
  if (!fmu_.set_due_parameters() || !fmu_.feed_held(inputs)) return false;
  do {
    pieces_.cut(step, constant, by_differences, settings());
    if (!run_pieces(inputs, step.begin)) return false;
  } while (pieces_.outdated());
  pieces_.end();
  if (!pieces_.all().back().hold_at) fmu_.note_inputs(inputs, step.size());
  return fmu_.read_outputs();
}

bool CoSimulation::run_pieces(std::span<const Polynomial> inputs, double begin) {
  for (std::size_t k = 0; k < pieces_.all().size(); ++k) {
    if (!run_piece(inputs, begin, pieces_.all()[k])) return false;
    if (pieces_.outdated()) break;
    if (seeks_ && !look_for_jump(k, inputs, begin)) return false;
  }
  if (seeks_ && std::abs(fmu_.now().t - awaited_) <= resolution(begin)) fmu_.meet_jump(awaited_);
  const double h = pieces_.all().back().end - begin;
  for (std::size_t i = 0; fmu_.now().event_due && i < inputs.size(); ++i)
    last_lines_[i].c = {inputs[i](h), inputs[i].derivative(h)};
  return true;
}

/// One piece of the macro-step: usually one step of the FMU, more where it returns early or has a
/// time event.
bool CoSimulation::run_piece(std::span<const Polynomial> inputs, double begin,
                             const StepPiece& piece) {
  if (fmu_.use().updates) fmu_.feed_on_updates(inputs, begin);
  const FmuPoint& now = fmu_.now();
  const double left = now.t;
  for (int attempt = 0; now.t < piece.end && !now.event_due; ++attempt) {
    if (attempt > most_returns) return fmu_.failed("the FMU returns early without end");
    const double end = fmu_.end_of_step(piece);
    const int order = fmu_.use().input_order;
    if (!fmu_.feed(inputs, begin, piece, end)) return false;
    if (fmu_.use().input_order < order) pieces_.doubt(now.t);
    if (pieces_.outdated()) return true;
    ++counters_.micro_steps;
    if (!fmu_.step(end, &piece)) return false;
  }
  return (!stairs_.looks() || pieces_.all().size() < 2 || look_for_stairs(now.t - left)) &&
         (!piece.sample || sample(*piece.sample));
}

bool CoSimulation::sample(int number) {
  if (!fmu_.read_outputs()) return false;
  slopes_.samples().take(number, fmu_.now().y, fmu_.events().passed());
  return true;
}

double CoSimulation::next_event(std::span<const Sample> /*inputs*/) {
  return fmu_.events().first();
}

Outcome CoSimulation::happen(EventPass pass, std::span<const Sample> inputs, double slack,
                             EventChange& change, std::vector<Happening>& what) {
  fmu_.note_slack(slack);
  change = EventChange::nothing;
  if (pass == EventPass::settle) return Outcome::ok;
  const std::size_t before = what.size();
  const bool good = fmu_.use().event_mode ? fmu_.happen(inputs, what) : pass_jump(what);
  if (what.size() > before) change = EventChange::values;
  return outcome_unless_over(good);
}

Outcome CoSimulation::set_parameter(std::size_t parameter, double value) {
  return outcome_unless_over(fmu_.set_parameter(parameter, value));
}

void CoSimulation::put_out(std::span<Texts> texts) {
  if (!fmu_.put_out(texts)) throw SimulationError(fmu_.failure());
}

void CoSimulation::take(std::span<const Texts> texts) {
  if (!fmu_.take(texts)) throw SimulationError(fmu_.failure());
}

void CoSimulation::save() {
  awaited_ = never;
  fmu_.may_go_back(true);
  usable_ = usable_ && fmu_.save(saved_);
  told_ = answered_at_ == fmu_.now().t ? answers_ : fmu_.now().y;
}

void CoSimulation::restore() {
  usable_ = usable_ && fmu_.restore(saved_);
  fed_ = fmu_.now().u;
}

/// What was learnt of it stays with its run, but for the mode in which it is.
bool CoSimulation::start_from(double t, std::span<const double> /*x*/,
                              std::span<const std::byte> memory) {
  if (t != fmu_.start_time())
    return told(fmu_.failed("stands at t = " + short_number(t) + " s and can only start there"));
  const FmuUse own = fmu_.use();
  Archive archive(std::vector(memory.begin(), memory.end()));
  if (!told(fmu_.pass_state(archive))) return false;
  const bool event_mode = fmu_.use().event_mode;
  fmu_.use() = own;
  fmu_.use().event_mode = event_mode;
  description_.events = knows_events();
  saved_.point = fmu_.now();
  return true;
}

/// Beside the FMU's own state what was learnt of it, which decides how it is stepped.
bool CoSimulation::io(Archive& archive) {
  if (!told(fmu_.pass_state(archive))) return false;
  CONCORD_MEMBERS(archive, fmu_, usable_, h_, only_size_, moves_, stairs_, fed_, looked_ahead_,
                  finds_, longest_, answers_, answered_at_, slopes_, counters_);
  description_.events = knows_events();
  saved_.point = fmu_.now();
  return true;
}

std::unique_ptr<Subsystem> make_co_simulation(std::shared_ptr<const FmuSetup> setup,
                                              const SubsystemSettings& settings) {
  return std::make_unique<CoSimulation>(std::move(setup), settings);
}

}  // namespace concord
