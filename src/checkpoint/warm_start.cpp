#include "checkpoint/warm_start.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "checkpoint/shares.hpp"
#include "concord/errors.hpp"
#include "support/agreement.hpp"
#include "support/options.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;
using Beginnings = std::vector<std::optional<Beginning>>;

std::string name_or(const std::string& text, const char* none) {
  return text.empty() ? none : text;
}

/// The number in "a delay of 0.2 s".
double delay_in(const std::string& identity) {
  for (const std::string& word : words(identity)) {
    if (const auto number = parse_number(word)) return *number;
  }
  return 0.0;
}

/// What is in the way of a start from where the one stood; empty: nothing.
std::string obstacle(const SubsystemPrint& then, const SubsystemPrint& now, bool same_time) {
  if (then.kind != now.kind) {
    return "was of kind " + then.kind + " and is of kind " + now.kind;
  }
  if (then.states != now.states) {
    return "had the states " + name_or(joined(then.states), "none") + " and has " +
           name_or(joined(now.states), "none");
  }
  if (!same_time && (now.kind == "fmu" || now.kind == "delay")) {
    return "can only start at the time of the checkpoint, which is in its memory; leave "
           "-cosim_start out";
  }
  const bool is_delay = now.kind == "delay";
  const bool fits =
      is_delay ? delay_in(now.identity) <= delay_in(then.identity) : now.identity == then.identity;
  return fits ? ""
              : "was " + name_or(then.identity, "without discrete variables") + " and is " +
                    name_or(now.identity, "without discrete variables") +
                    (is_delay ? ", of which the past is not known" : "");
}

/// A subsystem's states come first, then what its `io` has written; of an isolated one that is what
/// the one in the other process has written.
Beginning beginning_in(const Bytes& lane, const SubsystemPrint& then, double t) {
  Archive archive(lane);
  Beginning result;
  result.t = t;
  archive(result.x);
  const std::size_t states = sizeof(std::size_t) + result.x.size() * sizeof(double);
  result.memory.assign(lane.begin() + static_cast<std::ptrdiff_t>(states), lane.end());
  if (then.isolated) {
    archive(result.memory);
  }
  return result;
}

/// What a checkpoint gives the subsystems of another model.
class WarmStart {
 public:
  WarmStart(const fs::path& path, const SimulationPlan& plan)
      : path_(path), found_(read_checkpoint(path)) {
    if (found_.version != CONCORD_VERSION) {
      refuse("it was written by Concord " + found_.version + ", this is " + CONCORD_VERSION);
    }
    if (!found_.paces.groups.empty()) {
      refuse(
          "it holds groups of subsystems that -cosim_paces auto has integrated as one; write it "
          "with -cosim_paces one");
    }
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t k = 0; k < found_.subsystems.size(); ++k) {
      places[found_.subsystems[k].name] = k;
    }
    for (const SubsystemPrint& now : prints_of_subsystems(plan.model)) {
      const auto place = places.find(now.name);
      if (place == places.end()) {
        beginnings.emplace_back();
        if (now.kind != "constraint") fresh_.push_back(now.name);
      } else {
        take(place->second, now, plan.settings.start == found_.last_time());
        places.erase(place);
      }
    }
    for (const SubsystemPrint& then : found_.subsystems) {
      if (places.contains(then.name) && then.kind != "constraint") left_out_.push_back(then.name);
    }
  }

  std::string told() const {
    const auto some = [](const char* what, const std::vector<std::string>& names) {
      return names.empty() ? "" : std::string("; ") + what + joined(names);
    };
    return "starts from the states at t = " + short_number(found_.last_time()) + " s in '" +
           path_.string() + "'" +
           some("from their own start values, because it does not have them: ", fresh_) +
           some("left out, because the model does not have them: ", left_out_);
  }

  Beginnings beginnings;  ///< by position in the model

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError("-cosim_restart_as_start " + path_.string() + ": " + what);
  }

  void take(std::size_t k, const SubsystemPrint& now, bool same_time) {
    const SubsystemPrint& then = found_.subsystems[k];
    if (const std::string what = obstacle(then, now, same_time); !what.empty()) {
      refuse("subsystem '" + now.name + "' " + what +
             "; give it another name, so that it starts from its own start values, or the model "
             "of then");
    }
    beginnings.push_back(beginning_in(lanes()[k], then, found_.last_time()));
  }

  const std::vector<Bytes>& lanes() const {
    return found_.end ? found_.end->themselves : found_.memory.themselves;
  }

  fs::path path_;
  CheckpointContent found_;
  std::vector<std::string> fresh_, left_out_;
};

}  // namespace

std::vector<SubsystemPrint> prints_of_subsystems(const Model& model) {
  std::vector<SubsystemPrint> result;
  for (const SubsystemEntry& entry : model.subsystems) {
    const SubsystemDescription& description = entry.description;
    result.push_back({description.name, description.kind, entry.type->identity, entry.isolated,
                      names_of(description.states)});
  }
  return result;
}

double time_of_checkpoint(MPI_Comm comm, const fs::path& path) {
  double time = 0.0;
  together(comm, [&] {
    if (rank_in(comm) == 0) time = read_checkpoint(path).last_time();
  });
  MPI_Bcast(&time, 1, MPI_DOUBLE, 0, comm);
  return time;
}

std::string begin_from_checkpoint(SimulationCore& simulation, const fs::path& path) {
  const SimulationPlan& plan = simulation.plan();
  std::optional<WarmStart> start;
  together(plan.comm, [&] {
    if (rank_in(plan.comm) == 0) start.emplace(path, plan);
  });
  simulation.start_from(dealt(plan, start ? std::move(start->beginnings) : Beginnings()));
  return start ? start->told() : "";
}

}  // namespace concord
