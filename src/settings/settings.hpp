#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coupling/method.hpp"
#include "network/placement/placement.hpp"
#include "network/rank_network.hpp"
#include "settings/output_grid.hpp"
#include "settings/realtime.hpp"
#include "subsystem/fmu_options.hpp"
#include "subsystem/isolation_options.hpp"
#include "support/options.hpp"

namespace concord {

enum class Adapt { none, iteration, predictor, richardson, richardson_modified };

template <>
inline std::span<const WordOf<Adapt>> words_of<Adapt>() {
  static constexpr WordOf<Adapt> words[] = {
      {"none", Adapt::none},
      {"iteration", Adapt::iteration},
      {"predictor", Adapt::predictor},
      {"richardson", Adapt::richardson},
      {"richardson_modified", Adapt::richardson_modified},
  };
  return words;
}

/// -cosim_order.
enum class Order { by_type, four, six, automatic };

template <>
inline std::span<const WordOf<Order>> words_of<Order>() {
  static constexpr WordOf<Order> words[] = {
      {"by_type", Order::by_type},
      {"4", Order::four},
      {"6", Order::six},
      {"auto", Order::automatic},
  };
  return words;
}

/// How a method estimates its own error for this control.
ErrorEstimate estimate_of(Adapt adapt);

/// What becomes of a run whose own estimate is as large as its signals.
enum class Diverged { fail, warn };

template <>
inline std::span<const WordOf<Diverged>> words_of<Diverged>() {
  static constexpr WordOf<Diverged> words[] = {
      {"fail", Diverged::fail},
      {"warn", Diverged::warn},
  };
  return words;
}

/// What is done where nothing tells the error of a run: a second one in halves of its macro-steps.
enum class Halving { automatic, none };

template <>
inline std::span<const WordOf<Halving>> words_of<Halving>() {
  static constexpr WordOf<Halving> words[] = {
      {"auto", Halving::automatic},
      {"none", Halving::none},
  };
  return words;
}

/// What a signal counts for in schedules: 1, or what extrapolating it costs.
enum class ScheduleSignals { count, weighted };

template <>
inline std::span<const WordOf<ScheduleSignals>> words_of<ScheduleSignals>() {
  static constexpr WordOf<ScheduleSignals> words[] = {
      {"count", ScheduleSignals::count},
      {"weighted", ScheduleSignals::weighted},
  };
  return words;
}

/// Whether groups of subsystems take macro-steps of their own.
enum class OwnPaces { one, automatic };

template <>
inline std::span<const WordOf<OwnPaces>> words_of<OwnPaces>() {
  static constexpr WordOf<OwnPaces> words[] = {
      {"one", OwnPaces::one},
      {"auto", OwnPaces::automatic},
  };
  return words;
}

/// What goes into the results file.
struct RecordSettings {
  std::string path;
  bool outputs = true;
  bool inputs = true;
  bool states = true;
  bool polynomials = false;
  bool balance = false;
  std::string variables = "*";  ///< a list of names and patterns; empty: all
  int every = 1;
  int compression = 0;            ///< of the file when the run is done: 0 none, 9 most
  std::optional<double> split{};  ///< GB, of a part; none: the file is one
  OutputGrid grid{};
  std::string times_file{};  ///< of the grid; empty: none

  bool takes_all() const { return variables.empty() || variables == "*"; }
  /// Whether one of the list stands for the variable.
  bool takes(const std::string& name) const;
};

/// What is sent to whoever watches.
struct StreamSettings {
  std::string variables{};  ///< a list of names and patterns; empty: nothing is
  std::string address = "tcp://127.0.0.1:*";
  std::string set{};      ///< what they may set: a list of names and patterns, some with limits
  std::string set_log{};  ///< the scenario file of what they have set; empty: beside the results
};

/// How a run can be continued.
struct CheckpointSettings {
  std::string path;          ///< empty: no checkpoints
  double every = 600.0;      ///< s of wall time
  int epoch = 1000;          ///< macro-steps
  int kept = 3;              ///< files, the newest one and those before it
  std::string restart{};     ///< the checkpoint to go on from; empty: none
  bool may_start = false;    ///< where that is not there
  std::string start_from{};  ///< the one whose states a new run starts from; empty: none

  bool writes() const { return !path.empty(); }
};

/// How a model is simulated: the -cosim_* and -subsystem_* options, resolved.
struct Settings {
  Method method = method_presets().front();
  Adapt adapt = Adapt::none;
  Order order = Order::by_type;
  double accuracy = 1e-4;        ///< largest error wanted, in units of each signal's range
  double aim = 1e-4;             ///< the same, or less where a run before has missed it
  bool by_accuracy = false;      ///< it decides what no option says
  bool chose_order_six = false;  ///< quintic inputs by choice, no option names them
  std::string against_better{};  ///< why no method that would be chosen first can run; may be empty
  Diverged diverged = Diverged::fail;
  Halving halving = Halving::automatic;
  int event_limit = 1000;
  double start = 0.0;
  double stop = 1.0;
  double step = 0.0;          ///< fixed, or what macro-steps of unknown size are measured by
  double largest_step = 0.0;  ///< with step control
  double step_min = 0.0;      ///< of adaptive ones; 0: as small as times allow
  double schedule_weight = 0.5;
  ScheduleSignals schedule_signals = ScheduleSignals::count;
  Placing placing = Placing::automatic;
  OwnPaces paces = OwnPaces::one;
  std::string schedule_efforts;       ///< results file; empty: none
  std::vector<double> events;         ///< s, ascending
  std::vector<double> listed_events;  ///< those of nobody in particular
  std::optional<double> time_limit;   ///< seconds of wall time
  std::optional<double> hang_limit;   ///< the same, of one call of a subsystem
  RealtimeSettings realtime;
  std::string scenario;  ///< file of what happens to the model while it runs; empty: none
  CheckpointSettings checkpoint;
  int forget = 0;  ///< macro-steps after which the simulation is made anew; 0: never
  RecordSettings record;
  StreamSettings stream;
  std::string summary_file;  ///< JSON; empty: none
  std::string trace_file;    ///< Chrome's trace format; empty: none
  std::string fmu_calls;     ///< CSV; empty: none
  bool progress = false;
  bool monitor = false;
  bool view = false;
  SubsystemSettings defaults;
  SettingsList subsystems;

  /// Whether macro-steps are repeated, by the method or by the step control, whatever happens.
  bool takes_back() const {
    return method.rolls_back() || method.solve.repeats || adapt == Adapt::predictor;
  }
};

/// Reads and checks all options for this model; withheld capabilities are taken out of the model's
/// descriptions. Throws InputError.
Settings read_settings(Model& model);

/// What options say of checkpoints, whatever the model. Throws InputError.
CheckpointSettings read_checkpoint_settings();

/// The same without asking whether the subsystems can do what the method needs: `concord check`
/// explains that.
Settings read_settings_for_check(Model& model);

/// The -subsystem_fmu_* options of a subsystem, over `options`. Throws InputError.
FmuOptions read_fmu_options(const std::string& subsystem, FmuOptions options);

/// The same of -subsystem_isolated and what belongs to it.
IsolationOptions read_isolation_options(const std::string& subsystem, IsolationOptions options);

/// -cosim_hang_limit in s, which counts before there is a model, too. Throws InputError.
std::optional<double> read_hang_limit();

}  // namespace concord
