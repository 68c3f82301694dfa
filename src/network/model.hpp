#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "concord/archive.hpp"
#include "network/connection_list.hpp"
#include "subsystem/integrator_settings.hpp"
#include "subsystem/subsystem.hpp"
#include "support/shared_text.hpp"
#include "support/shared_value.hpp"

namespace concord {

class CallLog;
struct DelayDescription;
struct EquationsDescription;
struct FmuSetup;
struct FoundStart;
struct MessagesDescription;
struct Model;
struct StartProblem;
struct TableDescription;
struct TextInterface;
class UserFunctions;

/// Where something was written ("two_mass.yaml:17"), for error messages; may be empty.
using Location = SharedText;

/// A file that the model is read from.
struct ModelFile {
  std::string role;    ///< in words: "table"
  std::string path{};  ///< empty: nobody knows where it is
  std::string name{};  ///< where the path tells nobody anything; empty: the path
};

struct SubsystemEntry;

/// What subsystems have in common that are made in the same way, like those of a template: it
/// exists once for all of them.
struct SubsystemType {
  /// Called only on the rank that owns the subsystem.
  std::function<std::unique_ptr<Subsystem>(const SubsystemEntry&, const SubsystemSettings&)> create;
  ModelFile file{};  ///< an FMU, a table, a library; without role: none
  /// Tries what the subsystem claims (`concord check --probe`); a line per finding. May be null.
  std::function<std::vector<std::string>()> probe{};
  /// Why states that it saves are false as long as it runs from `start` to `stop` in macro-steps
  /// like these; empty: nothing is known against them. May be null: nothing is to be tried.
  std::function<std::string(double start, double stop, double step)> try_states{};
  std::string false_states{};  ///< what that has said
  /// Times after `from` and up to `to` at which its outputs jump or have kinks; `among` so many
  /// subsystems that are asked. May be null.
  std::function<std::vector<double>(double from, double to, std::size_t among)> events{};
  /// s: behind it what its rows said last goes on; none: nothing ends.
  std::optional<double> rows_end{};
  std::vector<std::string> notes{};  ///< for the model's
  /// Units to show variables in, by name, where these are others than their own.
  std::map<std::string, std::string> display{};
  /// Whose memory fits into no other: an FMU's token and parameters, discrete variables, a delay.
  std::string identity{};
  /// What it was made from, for export; null for other kinds.
  std::shared_ptr<const FmuSetup> fmu{};
  std::shared_ptr<const TableDescription> table{};
  std::shared_ptr<const DelayDescription> delay{};
  std::shared_ptr<const MessagesDescription> messages{};
  std::shared_ptr<const TextInterface> texts{};  ///< null: numbers are all that it exchanges
  std::shared_ptr<const Model> inside{};         ///< of a system with a `run`, or of a group
  /// Begins with the start values of states and inputs that this description has, which is its own
  /// in all else. Throws InputError where one cannot be set. Null: none can.
  std::function<void(SubsystemEntry&, const SubsystemDescription&)> take_starts{};
};

/// A subsystem as the model describes it, known on every rank.
struct SubsystemEntry {
  SubsystemDescription description;
  SharedValue<SubsystemType> type{};
  /// What it was made from, for export; null for other kinds.
  std::shared_ptr<const EquationsDescription> equations{};
  Location location{};
  double effort = 0.0;  ///< of a macro-step, in any unit, for schedules; 0: not given
  double step = 0.0;    ///< s, of its own: a multiple of the macro-step; 0: none
  Location step_location{};
  std::optional<int> rank{};  ///< modulo their number, on which it is wanted
  bool written =
      true;  ///< false: stands for a constraint or a delay, which schedules need not name
  bool isolated = false;  ///< in a process of its own
  std::size_t place = 0;  ///< in the model file, where there are groups

  std::unique_ptr<Subsystem> create(const SubsystemSettings& settings) const {
    return type->create(*this, settings);
  }

  /// Of one of its inputs, outputs, states.
  const std::string& shown_unit(const auto& variable) const {
    const auto found = type->display.find(variable.name);
    return found == type->display.end() ? variable.unit : found->second;
  }
};

/// An input or output of a system, and what it is of the subsystems within, by whole names.
struct SystemTerminal {
  std::string name;
  std::vector<std::string> inner;
  Location location;
};

/// `run:` of a system: it is integrated as one.
struct SystemRun {
  std::optional<double> accuracy{};  ///< of each signal's range; none: as the whole's
  Location location{};
  std::vector<std::string> notes{};  ///< for the model's
};

/// Subsystems that belong together; what is left of it is their common beginning of names, or one
/// subsystem where it has a `run`.
struct SystemEntry {
  std::string name;
  std::vector<SystemTerminal> inputs, outputs;
  std::optional<SystemRun> run{};
  std::map<std::string, double> parameters{};  ///< of its own, for all that is within
};

/// to = the sum over all that the terms stand for: "room[*].q", "room[i].area*room[i].q".
struct SumEntry {
  std::string terms;
  std::string prefix;                                      ///< of the names in them
  ConnectionEntry connection;                              ///< `from` is where the sum will be
  std::unordered_map<std::string, double> constants = {};  ///< that terms may name, too
  std::shared_ptr<const UserFunctions> functions = {};     ///< that they may call; null: none
};

/// One input that a constraint's unknown feeds: input = factor * unknown.
struct ConstraintFeed {
  std::string input;
  double factor = 1.0;
  Location location;
};

/// 0 = equation(y), with an unknown that feeds inputs (Arnold 2012, section on constraints).
struct ConstraintEntry {
  std::string unknown;
  double start = 0.0;
  std::string equation;                                    ///< expression in "subsystem.output"
  std::unordered_map<std::string, double> constants = {};  ///< that the equation may name, too
  std::shared_ptr<const UserFunctions> functions = {};     ///< that it may call; null: none
  std::vector<ConstraintFeed> feeds;
  Location location, equation_location;
};

/// One of `initial:`, as it is written: an equation that holds at the start beside start values.
struct InitialEntry {
  std::string equation;                                    ///< "der(rod.T[1]) = 0"
  std::optional<std::vector<std::string>> free = {};       ///< none: what stands on the left
  std::string prefix = {};                                 ///< of the names in it
  std::unordered_map<std::string, double> constants = {};  ///< that it may name, too
  std::shared_ptr<const UserFunctions> functions = {};     ///< that it may call; null: none
  Location location = {};
};

/// A subsystem's name in the schedule.
struct ScheduledName {
  std::string name;
  Location location;
};

/// Subsystems that take macro-steps of their own together (-cosim_paces auto).
struct PaceGroup {
  std::vector<std::string> members;     ///< by name, in the order of the model file
  double slowest = 0.0, fastest = 0.0;  ///< 1/s, of what is fast within

  void io(Archive& archive) { CONCORD_MEMBERS(archive, members, slowest, fastest); }
};

/// What -cosim_paces has come to.
struct Paces {
  std::vector<PaceGroup> groups;        ///< none: all go at one pace
  std::string why{};                    ///< where there are none
  double rest = 0.0;                    ///< 1/s, the fastest of what is left between subsystems
  double saved = 0.0;                   ///< of all right-hand sides, at most
  std::vector<std::string> left_out{};  ///< what is fast and cannot be within, with the reason

  void io(Archive& archive) { CONCORD_MEMBERS(archive, groups, why, rest, saved, left_out); }
};

/// What those who watch a run may set (-cosim_stream_set).
struct StreamTarget {
  std::string name, unit;  ///< "car.pedal"
  std::string subsystem;   ///< that is made for it
  std::string says;        ///< in /events, when it acts
  double start = 0.0;
  std::optional<double> least{}, most{};  ///< limits; none: any number
};

/// What is simulated, as written by the user: names not yet resolved.
struct Model {
  std::string name;
  std::string source;  ///< file name, for error messages
  double start = 0.0;
  double stop = 1.0;
  Location start_location, stop_location;
  std::vector<SubsystemEntry> subsystems;
  ConnectionList connections;
  ConnectionList text_connections;  ///< of texts and bytes, element by element
  std::vector<SumEntry> sums;
  std::vector<SystemEntry> systems;
  std::vector<ConstraintEntry> constraints;
  std::vector<InitialEntry> initial;
  std::shared_ptr<const StartProblem> start_problem{};  ///< what these mean; null: there are none
  std::shared_ptr<const FoundStart> found_start{};      ///< what solves it; null: not yet
  std::vector<std::vector<ScheduledName>> groups;       ///< `schedule: {groups: ...}`; may be empty
  Location groups_location;
  std::map<std::string, double> parameters;  ///< of the whole model
  std::vector<double> signal_weights;  ///< in schedules, of each input's signal; empty: 1 each
  std::vector<double> events;          ///< s, ascending: times at which something jumps
  std::vector<double> listed_events;   ///< those that are not known to be a subsystem's own
  double aim = 1.0;           ///< share of the accuracy to aim at: less after a run that missed it
  double largest_step = 0.0;  ///< s, of step control after such a run; 0: free
  double step_share =
      1.0;  ///< of the fixed macro-step to take: less beside a run that tells nothing
  std::optional<Paces> paces{};  ///< none: not looked for yet
  std::optional<bool> stiff{};   ///< whether a trial has shown stiff outputs; none: no trial yet
  std::string changes;           ///< lines "ball.e=0.9": values other than the model file says
  std::vector<StreamTarget> stream_targets;
  std::vector<ModelFile> files;      ///< all, each once, in the order of reading
  std::string text;                  ///< path of the file that describes it; empty: none
  std::shared_ptr<CallLog> calls{};  ///< of its FMUs, trials among them; null: not begun yet
  std::vector<std::string> notes;    ///< what was read and has no effect, for `concord check`
};

}  // namespace concord
