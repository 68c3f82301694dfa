#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "concord/archive.hpp"
#include "simulation/simulation_core.hpp"

namespace concord {

/// -cosim_stream_set: what those who watch set is an action of a scenario at the next communication
/// point that the run has not looked to yet. A log of them, which is a scenario, repeats the run to
/// the bit. The same on every rank.
class StreamSets {
 public:
  /// The targets of the simulation's model; it must outlive this object.
  explicit StreamSets(SimulationCore& simulation);

  std::span<const StreamTarget> targets() const { return simulation_.plan().model.stream_targets; }
  bool any() const { return !targets().empty(); }
  /// Of a target, as it is.
  double value(std::size_t target) const { return values_[target]; }

  struct Wish {
    std::size_t target;
    double value;
  };
  /// Nothing: it can be granted. Else why not, and what to do.
  std::optional<std::string> refusal(std::string_view name, double value) const;
  std::optional<std::size_t> find(std::string_view name) const;

  /// They come true at the next time that may be planned, or where one for the same target waits
  /// for its time, in its place. False: the run ends before. Collective.
  bool plan(std::span<const Wish> wishes);
  /// s: when that of a target comes true, of one that waits.
  double planned_for(std::size_t target) const { return planned_times_[target]; }

  struct Done {
    std::size_t target;
    double time, value;
  };
  /// What has come true at the end of a macro-step.
  std::vector<Done> take_done(const StepReport& report);

  /// On the first rank: the scenario file of all that has come true, from now on kept up to date.
  /// Throws InputError.
  void keep_log(const std::string& path);

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, values_, sides_, planned_times_, planned_values_, done_targets_,
                    done_times_, done_values_);
  }
  int memory_version() const { return 1; }

 private:
  struct Place {
    Settable time, side, goal;
    std::size_t subsystem;
  };
  static constexpr double never = std::numeric_limits<double>::infinity();
  void write_log() const;

  SimulationCore& simulation_;
  std::vector<Place> places_;
  std::string log_;  ///< empty: none
  std::vector<double> values_, sides_;
  std::vector<double> planned_times_, planned_values_;  ///< per target; `never`: nothing is
  std::vector<std::uint64_t> done_targets_;
  std::vector<double> done_times_, done_values_;
};

}  // namespace concord
