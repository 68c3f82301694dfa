#include "checkpoint/checkpoints.hpp"

#include <cctype>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <system_error>

#include "concord/errors.hpp"
#include "support/agreement.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

/// What says nothing about the run's course.
bool is_free(const std::string& option) {
  static const std::set<std::string> free = {
      "cosim_stop",       "cosim_time_limit",  "cosim_progress",         "cosim_monitor",
      "cosim_output",     "cosim_view",        "cosim_checkpoint_every", "cosim_restart",
      "cosim_checkpoint", "cosim_event_limit", "cosim_diverged",         "options_file",
      "options_left",     "log_view"};
  return free.contains(option);
}

/// What may change on the way, and is told.
bool is_told(const std::string& option) {
  return option.ends_with("_rtol") || option.ends_with("_atol") ||
         option == "cosim_checkpoint_epoch";
}

std::map<std::string, std::string> by_name(const std::string& database) {
  std::map<std::string, std::string> result;
  for (const auto& [name, value] : options::named(database)) result[name] = value;
  return result;
}

std::uint32_t print_of(const Model& model) {
  std::ifstream file(model.source, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text += model.changes;
  return check_value(std::as_bytes(std::span(text)));
}

using Part = std::vector<std::byte>;

void send(MPI_Comm comm, const Part& part, int to) {
  MPI_Ssend(part.data(), static_cast<int>(part.size()), MPI_BYTE, to, 0, comm);
}

Part received(MPI_Comm comm, int from) {
  MPI_Status status;
  int size = 0;
  MPI_Probe(from, 0, comm, &status);
  MPI_Get_count(&status, MPI_BYTE, &size);
  Part part(static_cast<std::size_t>(size));
  MPI_Recv(part.data(), size, MPI_BYTE, from, 0, comm, MPI_STATUS_IGNORE);
  return part;
}

/// On the first rank: those of all ranks, in their order.
std::vector<Part> gathered(MPI_Comm comm, const Part& own) {
  if (rank_in(comm) != 0) {
    send(comm, own, 0);
    return {};
  }
  std::vector<Part> all = {own};
  for (int from = 1; from < ranks_of(comm); ++from) all.push_back(received(comm, from));
  return all;
}

/// Each rank's own, of those that the first rank has.
Part scattered(MPI_Comm comm, std::vector<Part>& all) {
  if (rank_in(comm) != 0) return received(comm, 0);
  for (int to = 1; to < ranks_of(comm); ++to) {
    send(comm, std::exchange(all[static_cast<std::size_t>(to)], {}), to);
  }
  return std::move(all[0]);
}

std::string in_words(double time) {
  char text[64];
  std::snprintf(text, sizeof text, "t = %.9g s", time);
  return text;
}

}  // namespace

Checkpoints::Checkpoints(SimulationCore& simulation, std::function<void(Archive&)> others,
                         std::function<void()> flush)
    : simulation_(simulation),
      settings_(simulation.plan().settings.checkpoint),
      others_(std::move(others)),
      flush_(std::move(flush)) {
  if (wanted()) {
    const SimulationPlan& plan = simulation.plan();
    copy_.version = CONCORD_VERSION;
    copy_.model = plan.model.name;
    copy_.print = print_of(plan.model);
    copy_.options = plan.options;
  }
}

std::optional<std::string> Checkpoints::restart() {
  if (settings_.restart.empty()) {
    return std::nullopt;
  }
  const MPI_Comm comm = simulation_.plan().comm;
  const bool reads = rank_in(comm) == 0;
  fs::path path = settings_.restart;
  CheckpointContent found;
  bool starts = false;
  together(comm, [&] {
    if (!reads) return;
    const bool earlier_only = !fs::exists(path) && fs::exists(earlier_checkpoint(path));
    path = settings_.may_start && earlier_only ? earlier_checkpoint(path) : path;
    starts = settings_.may_start && !fs::exists(path);
    if (starts) return;
    found = read_checkpoint(path);
    require_same_run(found);
  });
  if (agree_on_largest(comm, starts ? 1 : 0) != 0) {
    return std::nullopt;
  }
  MPI_Bcast(&found.time, 1, MPI_DOUBLE, 0, comm);
  MPI_Bcast(&found.steps, 1, MPI_INT64_T, 0, comm);
  copy_.time = found.time;
  copy_.steps = began_at_ = found.steps;
  own_part_ = scattered(comm, found.parts);
  Archive archive(own_part_);
  std::vector<std::byte> core;
  archive(core);
  simulation_.restore(std::move(core));
  others_(archive);
  written_ = settings_.restart == settings_.path;
  return "goes on from " + in_words(copy_.time) + ", macro-step " + std::to_string(copy_.steps) +
         " ('" + path.string() + "')" + told_;
}

void Checkpoints::require_same_run(const CheckpointContent& found) {
  const auto refuse = [&](const std::string& what) {
    throw InputError("-cosim_restart " + settings_.restart + ": " + what +
                     "; start the run anew, without -cosim_restart");
  };
  if (found.version != copy_.version) {
    refuse("it was written by Concord " + found.version + ", this is " + copy_.version);
  }
  if (found.model != copy_.model || found.print != copy_.print) {
    refuse("it belongs to another model, '" + found.model + "'" +
           (found.model == copy_.model ? " with another text or other -set" : ""));
  }
  const auto ranks = static_cast<std::size_t>(ranks_of(simulation_.plan().comm));
  if (found.parts.size() != ranks) {
    throw InputError("-cosim_restart " + settings_.restart +
                     ": the number of ranks was and must be " + std::to_string(found.parts.size()) +
                     ", not " + std::to_string(ranks) + "; use mpirun -n " +
                     std::to_string(found.parts.size()));
  }
  auto before = by_name(found.options), now = by_name(copy_.options);
  std::set<std::string> names;
  for (const auto& options : {before, now}) {
    for (const auto& [name, value] : options) names.insert(name);
  }
  const auto shown = [](const auto& options, const std::string& name) {
    const auto entry = options.find(name);
    return entry == options.end() ? "not given" : "'" + entry->second + "'";
  };
  for (const std::string& name : names) {
    const std::string was = shown(before, name), is = shown(now, name);
    if (was == is || is_free(name)) {
      continue;
    }
    const std::string change = "-" + name + " was " + was + " and is " + is;
    if (!is_told(name)) {
      refuse(change + "; the stop time, limits, tolerances and what is shown may change");
    }
    told_ += "; " + change + " from here on";
  }
}

void Checkpoints::begin() {
  together(simulation_.plan().comm,
           [&] { require_replaceable_checkpoint(settings_.path, copy_.model); });
  copy(0);
  if (const auto failure = attempt_to_write()) {
    throw InputError(*failure + "; choose another file with -cosim_checkpoint");
  }
}

void Checkpoints::look(std::int64_t steps) {
  if (!wanted() || steps / settings_.epoch == copy_.steps / settings_.epoch) {
    return;
  }
  copy(steps);
  if (agree_on_largest(simulation_.plan().comm, due() ? 1 : 0) == 0) {
    return;
  }
  if (const auto failure = attempt_to_write(); failure && rank_in(simulation_.plan().comm) == 0) {
    std::fprintf(stderr, "concord: warning: %s; the run goes on, and tries again\n",
                 failure->c_str());
  }
}

bool Checkpoints::due() const {
  const std::chrono::duration<double> since = Clock::now() - written_at_;
  return rank_in(simulation_.plan().comm) == 0 && since.count() >= settings_.every;
}

void Checkpoints::copy(std::int64_t steps) {
  Archive archive;
  std::vector<std::byte> core = simulation_.snapshot();
  archive(core);
  others_(archive);
  own_part_ = archive.bytes();
  copy_.time = simulation_.time();
  copy_.steps = steps;
  written_ = false;
}

void Checkpoints::finish() {
  if (!wanted()) {
    return;
  }
  if (const auto failure = written_ ? std::nullopt : attempt_to_write()) {
    throw SimulationError(*failure);
  }
  if (copy_.steps == began_at_ && rank_in(simulation_.plan().comm) == 0) {
    std::fprintf(stderr,
                 "concord: warning: the run stops before macro-step %lld, where it could be "
                 "continued next: a restart begins where this run did; use a smaller "
                 "-cosim_checkpoint_epoch\n",
                 static_cast<long long>((began_at_ / settings_.epoch + 1) * settings_.epoch));
  }
}

/// What has gone wrong, in words.
std::optional<std::string> Checkpoints::attempt_to_write() {
  const MPI_Comm comm = simulation_.plan().comm;
  constexpr std::size_t most = std::numeric_limits<int>::max();
  if (agree_on_largest(comm, own_part_.size() > most ? 1 : 0) != 0) {
    return "cannot write the checkpoint '" + settings_.path +
           "': a rank has more than 2 GB to save; use more ranks";
  }
  flush_();
  written_at_ = Clock::now();
  copy_.parts = gathered(comm, own_part_);
  const auto failure = failure_on_any_rank(comm, [&] {
    if (rank_in(comm) != 0) return;
    try {
      write_checkpoint(settings_.path, copy_);
    } catch (const std::system_error& error) {
      throw std::runtime_error("cannot write the checkpoint '" + settings_.path +
                               "': " + error.code().message());
    }
  });
  copy_.parts.clear();
  written_ = !failure;
  return failure;
}

}  // namespace concord
