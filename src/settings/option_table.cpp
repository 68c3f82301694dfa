#include "settings/option_table.hpp"

#include <unistd.h>

#include "settings/record_options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

constexpr const char* by_type = "by type";

/// A value that is written by the word that stands for it.
template <auto... members>
auto word_at(At<members...> place) {
  return [=](const auto& target) { return std::string(word(place(target))); };
}

Option<Settings> type_option() {
  return {"cosim_type",
          "coupling method: a preset of schedule, hold and solve; jfm where macro-steps are given, "
          "else -cosim_accuracy chooses",
          one_of<Method>(), [](const Settings& s) { return s.method.type; },
          [](Settings& s, const std::optional<Method>& given) {
            s.method = given.value_or(method_presets().front());
          }};
}

/// "0 (zoh), 1 (extrapolate, extripol)"
std::string usual_orders() {
  std::string text;
  for (int order = 0; order <= 3; ++order) {
    std::string holds;
    for (const Hold& hold : all_holds()) {
      if (hold.from_past && hold.usual_order() == order) {
        holds += (holds.empty() ? "" : ", ") + std::string(hold.word);
      }
    }
    if (!holds.empty()) {
      text += (text.empty() ? "" : ", ") + std::to_string(order) + " (" + holds + ")";
    }
  }
  return text;
}

Option<Settings> hold_order_option() {
  return Option<Settings>{"cosim_hold_order", "order of extrapolation: 0 to 3; extripol 0 or 1",
                          whole_number(0, 3),
                          [](const Settings& s) { return std::to_string(s.method.hold_order); },
                          [](Settings& s, const std::optional<int>& given) {
                            s.method.hold_order = given.value_or(s.method.hold.usual_order());
                          }}
      .by_default(usual_orders());
}

Option<Settings> solve_option() {
  return Option<Settings>{"cosim_solve", "coupling at the end of the macro-step", one_of<Solve>(),
                          word_at(at<&Settings::method, &Method::solve>),
                          [](Settings& s, const std::optional<Solve>& given) {
                            Method& method = s.method;
                            method.solve = given.value_or(method.solve);
                            if (given && method.snes_type.empty()) {
                              method.snes_type = method_presets().front().snes_type;
                            }
                          }}
      .by_default(by_type);
}

Option<Settings> adapt_option() {
  return {"cosim_adapt", "step-size control", one_of<Adapt>(), word_at(at<&Settings::adapt>),
          [](Settings& s, const std::optional<Adapt>& given) {
            s.adapt = given.value_or(Adapt::none);
            s.method.estimate = estimate_of(s.adapt);
          }};
}

/// The absolute part in units of sizes goes with the relative one.
template <class Target, auto... members>
Option<Target> proportional_rtol(std::string name, std::string help, At<members...> place) {
  return {std::move(name), std::move(help), positive_number(),
          [=](const Target& target) { return plain_number(place(target).relative); },
          [=](Target& target, const std::optional<double>& given) {
            Tolerance& tolerance = place(target);
            const double relative = given.value_or(tolerance.relative);
            if (tolerance.of_size) {
              tolerance.absolute = tolerance.absolute / tolerance.relative * relative;
            }
            tolerance.relative = relative;
          }};
}

/// What is given is in the variable's unit, else in units of sizes.
template <class Target, auto... members>
Option<Target> absolute_tolerance(std::string name, std::string help, At<members...> place) {
  return {std::move(name), std::move(help), positive_number(),
          [=](const Target& target) { return plain_number(place(target).absolute); },
          [=](Target& target, const std::optional<double>& given) {
            if (given) {
              place(target).absolute = *given;
              place(target).of_size = false;
            }
          }};
}

/// None where none is given.
template <auto... members>
Option<Settings> limit(std::string name, std::string help, Values<double> values,
                       At<members...> place) {
  return Option<Settings>{
      std::move(name), std::move(help), std::move(values),
      [=](const Settings& s) { return place(s) ? plain_number(*place(s)) : "none"; },
      [=](Settings& s, const std::optional<double>& given) { place(s) = given; }}
      .by_default("none");
}

template <auto... members>
Option<Settings> wall_time(std::string name, std::string help, At<members...> place) {
  return limit(std::move(name), std::move(help), duration(), place).in("s, or HH:MM:SS");
}

bool writes_no_checkpoints(const Settings& settings) { return !settings.checkpoint.writes(); }

Option<Settings> restart_as_start_option() {
  return Option<Settings>{
      "cosim_restart_as_start",
      "checkpoint whose states of subsystems a new run starts from, at its time unless "
      "-cosim_start is given; the model may be another one where they fit",
      file_name(), [](const Settings& s) { return s.checkpoint.start_from; },
      [](Settings& s, const std::optional<std::string>& given) {
        if (given && !s.checkpoint.restart.empty()) {
          throw InputError(
              "-cosim_restart goes on with a run, -cosim_restart_as_start begins a new one; give "
              "one of them");
        }
        s.checkpoint.start_from = given.value_or("");
      }}
      .by_default("none");
}

/// `auto` goes on where the checkpoint is there, and starts where it is not.
Option<Settings> restart_option() {
  return Option<Settings>{
      "cosim_restart", "checkpoint to go on from; auto: that of -cosim_checkpoint, if it is there",
      file_name(), [](const Settings& s) { return s.checkpoint.restart; },
      [](Settings& s, const std::optional<std::string>& given) {
        CheckpointSettings& checkpoint = s.checkpoint;
        if (given == "auto" && !checkpoint.writes()) {
          throw InputError(
              "-cosim_restart auto needs -cosim_checkpoint FILE, which it goes on from");
        }
        checkpoint.restart = given == "auto" ? checkpoint.path : given.value_or("");
        checkpoint.may_start = given == "auto";
        checkpoint.path = checkpoint.writes() ? checkpoint.path : checkpoint.restart;
      }}
      .by_default("none");
}

Option<Settings> progress_option() {
  return Option<Settings>{"cosim_progress", "progress line with the time left", flag(),
                          [](const Settings& s) { return s.progress ? "true" : "false"; },
                          [](Settings& s, const std::optional<bool>& given) {
                            s.progress = given.value_or(isatty(STDERR_FILENO) != 0);
                          }}
      .by_default("on a terminal");
}

bool estimates_nothing(const Settings& s) { return s.method.estimate == ErrorEstimate::none; }
bool keeps_its_step(const Settings& s) { return s.adapt == Adapt::none; }
constexpr const char* of_step_control = "a tolerance of -cosim_adapt predictor and richardson";

template <auto... members>
constexpr auto in_method = at<&Settings::method, members...>;
template <auto... members>
constexpr auto in_record = at<&Settings::record, members...>;

Option<Settings> realtime_option() {
  return Option<Settings>{
      "cosim_realtime",
      "the run goes by the clock: seconds of model time in one of wall time, at most",
      positive_number(),
      [](const Settings& s) {
        return s.realtime.paced() ? plain_number(s.realtime.factor) : "none";
      },
      [](Settings& s, const std::optional<double>& given) {
        s.realtime.factor = given.value_or(0.0);
      }}
      .by_default("none");
}

Option<Settings> output_interval_option() {
  return Option<Settings>{"cosim_output_interval",
                          "rows at these distances from the start instead of communication points; "
                          "events are in /events",
                          positive_number(),
                          [](const Settings& s) {
                            const double interval = s.record.grid.interval();
                            return interval > 0.0 ? plain_number(interval) : "none";
                          },
                          [](Settings& s, const std::optional<double>& given) {
                            s.record.grid = given ? OutputGrid::every(*given) : OutputGrid();
                          }}
      .in("s")
      .by_default("none");
}

Option<Settings> output_times_option() {
  return Option<Settings>{
      "cosim_output_times",
      "file with the times of rows, one per line or a CSV file's first column, instead of "
      "communication points; events are in /events. Times outside the experiment give no row",
      file_name(), [](const Settings& s) { return s.record.times_file; },
      [](Settings& s, const std::optional<std::string>& given) {
        if (!given) return;
        if (s.record.grid.given()) {
          throw InputError(
              "-cosim_output_interval and -cosim_output_times each say where rows are; give one");
        }
        s.record.times_file = *given;
        s.record.grid = OutputGrid::at(read_output_times(*given));
      }}
      .by_default("none");
}

bool keeps_groups_on_ranks(const Settings& settings) {
  return settings.method.schedule.groups_on_ranks;
}

bool has_no_nodes(const Settings& settings) { return !settings.method.solve.at_nodes; }

Option<Settings> nodes_option() {
  return Option<Settings>{
      "cosim_nodes",
      "gauss and radau: nodes of a macro-step, k, at which states and inputs are solved for; order "
      "2k or 2k - 1; auto: under -cosim_adapt predictor 4 to 6 by their work, where subsystems "
      "have "
      "no events",
      whole_number_or("auto", Method::least_nodes, Method::most_nodes),
      [](const Settings& s) { return s.method.nodes ? std::to_string(*s.method.nodes) : "auto"; },
      [](Settings& s, const std::optional<int>& given) {
        if (given) s.method.nodes = *given == 0 ? std::nullopt : given;
      }}
      .idle(has_no_nodes, "a choice of -cosim_type gauss and radau");
}

bool has_grid(const Settings& settings) { return settings.record.grid.given(); }

OptionTable<Settings> make_run_options() {
  using M = Method;
  using O = Option<Settings>;
  return {
      type_option(),
      O("cosim_schedule", "who runs with whose new outputs", one_of<Schedule>(),
        in_method<&M::schedule>)
          .by_default(by_type),
      O("cosim_schedule_weight",
        "groups of -cosim_schedule hierarchical that the model file doesn't give: few extrapolated "
        "signals (0) to short macro-steps (1)",
        number_from(0.0, 1.0), at<&Settings::schedule_weight>),
      O("cosim_schedule_signals",
        "in schedules every signal counts the same, or is weighted by what holding it over a "
        "macro-step does to the outputs it reaches, as the linearisation at the start and the "
        "first macro-steps of a trial run tell",
        one_of<ScheduleSignals>(), at<&Settings::schedule_signals>),
      O("cosim_schedule_efforts",
        "results file of an earlier run: the times its subsystems took are their efforts in "
        "schedules and placements",
        any_text(), at<&Settings::schedule_efforts>)
          .by_default("the model's, or states + 1"),
      O("cosim_placement",
        "which MPI rank has which subsystems: blocks in the model's order, pieces of the graph of "
        "connections (PETSc's MatPartitioning), or the better one; with groups on ranks "
        "(-cosim_schedule hierarchical) neither",
        one_of<Placing>(), at<&Settings::placing>)
          .idle(keeps_groups_on_ranks, "schedules whose groups may be on any rank"),
      O("cosim_paces",
        "one: all subsystems take the same macro-steps; auto: groups of fast ones, found from the "
        "linearised network at the start, are integrated as one with steps of their own, and the "
        "rest at its own pace",
        one_of<OwnPaces>(), at<&Settings::paces>),
      O("cosim_hold", "inputs on the macro-step", one_of<Hold>(), in_method<&M::hold>)
          .by_default(by_type),
      hold_order_option(),
      O("cosim_extrapolation",
        "explicit methods: extrapolate through values at the last communication points, or through "
        "values and slopes",
        one_of<Extrapolation>(), in_method<&M::extrapolation>),
      O("cosim_smooth_switching",
        "explicit methods: from the last hold to the new one without a jump", flag(),
        in_method<&M::smooth_switching>),
      O("cosim_balance",
        "explicit methods: give back what holds miss of the inputs' integrals, held constant or "
        "as a smooth bump",
        one_of<Balance>(), in_method<&M::balance>),
      O("cosim_balance_spread", "macro-steps over which a balance error is given back: 1 to 4",
        whole_number(1, 4), in_method<&M::balance_spread>),
      solve_option(),
      O("cosim_predictor", "first guess of an iterative solve", one_of<Predictor>(),
        in_method<&M::predictor>)
          .by_default(by_type),
      O("cosim_order",
        "of jfm and missiles with cubic (4) or quintic (6) inputs, or auto: 6 where the tolerance "
        "of -cosim_adapt predictor or the accuracy is small enough for it to pay, every "
        "subsystem can and none is stiff",
        one_of<Order>(), at<&Settings::order>),
      O("cosim_accuracy",
        "largest error wanted, in units of each signal's range: chooses type, step control and "
        "tolerances that are not given; by default only where -cosim_step and -cosim_adapt are not "
        "given, and for jfm, missiles, jfm6, missiles6, gauss and radau as they are",
        number_from(1e-12, 0.1), at<&Settings::accuracy>),
      O("cosim_step",
        "macro-step; the largest with -cosim_adapt, whose error estimates without it are the only "
        "limit",
        positive_number(), at<&Settings::step>)
          .in("s")
          .by_default("by -cosim_accuracy, or (stop - start)/1000"),
      O("cosim_step_min", "smallest adaptive macro-step", positive_number(),
        at<&Settings::step_min>)
          .in("s")
          .by_default("1e-6 of a cosim_step that is given, else as times allow")
          .idle(keeps_its_step, "a limit of -cosim_adapt"),
      adapt_option(),
      proportional_rtol<Settings>("cosim_adapt_rtol", "relative tolerance of the step-size control",
                                  in_method<&M::adapt_tolerance>)
          .idle(estimates_nothing, of_step_control),
      absolute_tolerance<Settings>("cosim_adapt_atol",
                                   "absolute tolerance of the step-size control",
                                   in_method<&M::adapt_tolerance>)
          .in("signal's unit")
          .by_default("rtol of each signal's size")
          .idle(estimates_nothing, of_step_control),
      O("cosim_rtol", "relative coupling tolerance", positive_number(),
        in_method<&M::tolerance, &Tolerance::relative>),
      absolute_tolerance<Settings>("cosim_atol", "absolute coupling tolerance",
                                   in_method<&M::tolerance>)
          .in("input's unit"),
      O("cosim_max_it", "largest number of iterations per macro-step", whole_number(1, 1000000),
        in_method<&M::max_it>),
      nodes_option(),
      O("cosim_constraints",
        "explicit methods: unknowns of constraints at the end of the macro-step from all outputs, "
        "from a copy for each subsystem alone, combined, or from the last subsystem alone "
        "(staggered, to compare)",
        one_of<Constraints>(), in_method<&M::constraints>),
      O("cosim_consistent_outputs",
        "explicit methods: evaluate direct feedthrough again with the new inputs; by default where "
        "there is an algebraic loop whose subsystems all can",
        flag(), in_method<&M::consistent_outputs>)
          .by_default("true in algebraic loops"),
      O("cosim_diverged",
        "a run whose own error estimate is as large as its signals fails, or goes on with a "
        "warning",
        one_of<Diverged>(), at<&Settings::diverged>),
      O("cosim_halving",
        "where nothing tells the error of a run (black boxes): auto estimates it by a second run "
        "in halves of its macro-steps, which costs twice the first; not beside "
        "-cosim_checkpoint, -cosim_restart, -cosim_restart_as_start, -cosim_time_limit, "
        "-cosim_realtime, -cosim_monitor, -cosim_stream, -cosim_fmu_calls or remote:, nor where "
        "the first has taken more than a minute",
        one_of<Halving>(), at<&Settings::halving>),
      O("cosim_event_limit",
        "events at one instant, or one after the other after hardly any time, that are one too "
        "many "
        "(chattering, a ball that comes to rest)",
        whole_number(1, 1000000), at<&Settings::event_limit>),
      O("cosim_start", "start time", number(), at<&Settings::start>)
          .in("s")
          .by_default("the model's"),
      O("cosim_stop", "stop time", number(), at<&Settings::stop>).in("s").by_default("the model's"),
      O("cosim_output", "results file", file_name(), in_record<&RecordSettings::path>)
          .by_default("<model>.h5"),
      O{"cosim_record",
        "what is recorded: any of outputs,inputs,states,polynomials,balance, or none; the default "
        "includes balance where it is corrected",
        any_text(), [](const Settings& s) { return recorded(s.record); }, choose_recorded},
      O("cosim_record_variables", "names and patterns of the variables to record: cell[*].x,left.v",
        any_text(), in_record<&RecordSettings::variables>),
      O("cosim_record_every", "record every n-th communication point, beside events",
        whole_number(1, 1000000000), in_record<&RecordSettings::every>)
          .idle(has_grid,
                "a choice among communication points, which have no rows of their own beside "
                "-cosim_output_interval and -cosim_output_times"),
      O("cosim_record_compression",
        "compresses the results file when the run is done, parts when they are full: 0 not at all, "
        "1 fast to 9 small "
        "(shuffle and gzip, which all of HDF5 reads)",
        whole_number(0, 9), in_record<&RecordSettings::compression>),
      limit("cosim_record_split",
            "size at which rows go on in another file: the results file then shows those in "
            "<results file>.parts",
            positive_number(), in_record<&RecordSettings::split>)
          .in("GB"),
      output_interval_option(),
      output_times_option(),
      wall_time("cosim_time_limit", "wall time after which the run stops with exit code 3",
                at<&Settings::time_limit>),
      wall_time("cosim_hang_limit",
                "wall time after which a subsystem that does not return, or does not reach the end "
                "of its macro-step, has failed",
                at<&Settings::hang_limit>),
      O("cosim_stream",
        "names and patterns of variables that are sent to whoever watches, while the run goes on "
        "(concord watch ADDRESS)",
        any_text(), at<&Settings::stream, &StreamSettings::variables>)
          .by_default("none"),
      O("cosim_stream_address",
        "where the stream is, and the token that those who watch must name: "
        "tcp://127.0.0.1:5600#token; port * is any free one, a token that is not given is made and "
        "printed",
        any_text(), at<&Settings::stream, &StreamSettings::address>)
          .idle([](const Settings& s) { return s.stream.variables.empty(); },
                "-cosim_stream PATTERN"),
      O("cosim_stream_set",
        "names and patterns of parameters, and of inputs that nothing feeds, that those who watch "
        "may set while the run goes on, with limits or without: car.pedal=0:1,'car.*'",
        any_text(), at<&Settings::stream, &StreamSettings::set>)
          .by_default("none"),
      O("cosim_stream_log",
        "scenario file of all that they have set, with which -cosim_scenario repeats the run",
        file_name(), at<&Settings::stream, &StreamSettings::set_log>)
          .by_default("run.scenario.yaml beside run.h5")
          .idle([](const Settings& s) { return s.stream.set.empty(); }, "-cosim_stream_set NAMES"),
      realtime_option(),
      O(
          "cosim_realtime_anytime",
          "of a run by the clock: a macro-step's iteration ends when no time is left for one more "
          "correction, though it has not converged, but not before that many corrections (0: the "
          "prediction alone); what is left out counts in the estimated error",
          whole_number(0, 1000),
          [](const Settings& s) {
            return s.realtime.anytime ? std::to_string(*s.realtime.anytime) : "none";
          },
          [](Settings& s, const std::optional<int>& given) { s.realtime.anytime = given; })
          .by_default("none")
          .idle([](const Settings& s) { return !s.realtime.paced(); }, "-cosim_realtime FACTOR"),
      O("cosim_realtime_late",
        "a macro-step that is done after its time: told and counted, the run's failure, or all "
        "later "
        "ones come as much later",
        one_of<Late>(), at<&Settings::realtime, &RealtimeSettings::late>)
          .idle([](const Settings& s) { return !s.realtime.paced(); }, "-cosim_realtime FACTOR"),
      O("cosim_realtime_lock",
        "memory that is never paged out (mlockall), and a place before all ordinary processes "
        "(SCHED_FIFO), while the run goes by the clock; what the system does not allow is told",
        flag(), at<&Settings::realtime, &RealtimeSettings::locked>)
          .idle([](const Settings& s) { return !s.realtime.paced(); }, "-cosim_realtime FACTOR"),
      O("cosim_scenario",
        "YAML file of what happens to inputs, outputs and parameters while the model runs: set, "
        "ramp, override, offset, freeze, drop, noise, at a time or when a condition becomes true; "
        "several, separated by commas, one on top of the other",
        file_name(), at<&Settings::scenario>)
          .by_default("none"),
      O("cosim_checkpoint", "file from which the run can go on after a stop or a kill", file_name(),
        at<&Settings::checkpoint, &CheckpointSettings::path>)
          .by_default("none"),
      restart_option(),
      restart_as_start_option(),
      O("cosim_checkpoint_every", "wall time after which the checkpoint is written anew",
        duration(), at<&Settings::checkpoint, &CheckpointSettings::every>)
          .in("s, or HH:MM:SS")
          .idle(writes_no_checkpoints, "-cosim_checkpoint FILE"),
      O("cosim_checkpoint_keep",
        "checkpoints that are kept: the newest, and those before it as FILE.old, FILE.old2, ...",
        whole_number(1, 100), at<&Settings::checkpoint, &CheckpointSettings::kept>)
          .idle(writes_no_checkpoints, "-cosim_checkpoint FILE"),
      O("cosim_checkpoint_epoch",
        "macro-steps from one point at which a run can be continued to the next; there histories "
        "of multistep integrators are dropped",
        whole_number(1, 1000000000), at<&Settings::checkpoint, &CheckpointSettings::epoch>)
          .idle(writes_no_checkpoints, "-cosim_checkpoint FILE"),
      O("cosim_forget",
        "macro-steps after which the run goes on in a simulation that is made anew, with what a "
        "checkpoint would hold and nothing else: a test of Concord itself; 0: never",
        whole_number(0, 1000000000), at<&Settings::forget>),
      O("cosim_summary", "JSON file for what the summary tells, and all costs", file_name(),
        at<&Settings::summary_file>)
          .by_default("none"),
      O("cosim_trace",
        "JSON file for what each rank did when, as chrome://tracing and Perfetto show it",
        file_name(), at<&Settings::trace_file>)
          .by_default("none"),
      O("cosim_fmu_calls",
        "CSV file for every call of a function of an FMU, before and behind it; on several ranks "
        "one each: calls.csv becomes calls.0.csv, calls.1.csv ...",
        file_name(), at<&Settings::fmu_calls>)
          .by_default("none"),
      progress_option(),
      O("cosim_monitor", "a line per macro-step", flag(), at<&Settings::monitor>),
      O("cosim_view", "effective settings", flag(), at<&Settings::view>),
      O("missiles_defect", "defect correction of the estimators", one_of<Defect>(),
        in_method<&M::estimator, &EstimatorSettings::defect>),
      O("missiles_laplace",
        "exponentials of the estimators; stehfest, which is less exact, only to compare",
        one_of<Response>(), in_method<&M::estimator, &EstimatorSettings::response>),
  };
}

OptionTable<SubsystemSettings> make_subsystem_options() {
  using S = SubsystemSettings;
  using O = Option<S>;
  constexpr const char* withholds = "false withholds the capability";
  return {
      O("integrator",
        "integrator of a subsystem: explicit or implicit Runge-Kutta (erk, dirk), multistep "
        "(cvode_bdf, cvode_adams); auto: erk, and the cheaper of dirk and cvode_bdf where stiff",
        one_of<IntegratorKind>(), at<&S::integrator>),
      proportional_rtol<S>("rtol", "relative tolerance of the integrator", at<&S::tolerance>),
      absolute_tolerance<S>("atol", "absolute tolerance of the integrator", at<&S::tolerance>)
          .in("state's unit")
          .by_default("rtol/100 of each state's size"),
      O("rollback",
        "false withholds the capability, true believes an FMU's saved states without a trial",
        flag(), at<&S::rollback>),
      O("linearization", withholds, flag(), at<&S::linearization>),
      O("state_derivatives", withholds, flag(), at<&S::state_derivatives>),
  };
}

template <class Target>
void add_specs(const OptionTable<Target>& options, const std::string& prefix,
               std::vector<OptionSpec>& specs) {
  const Target defaults{};
  for (const auto& option : options) {
    specs.push_back(option.spec(prefix, defaults));
  }
}

}  // namespace

const OptionTable<Settings>& run_options() {
  static const auto options = make_run_options();
  return options;
}

const OptionTable<SubsystemSettings>& subsystem_options() {
  static const auto options = make_subsystem_options();
  return options;
}

const std::vector<OptionSpec>& option_table() {
  static const auto table = [] {
    std::vector<OptionSpec> specs;
    add_specs(run_options(), "", specs);
    add_specs(subsystem_options(), subsystem_prefix, specs);
    add_specs(fmu_options(), subsystem_prefix, specs);
    add_specs(isolation_options(), subsystem_prefix, specs);
    return specs;
  }();
  return table;
}

}  // namespace concord
