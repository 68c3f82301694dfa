#include "checkpoint/checkpoints.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <system_error>

#include "checkpoint/shares.hpp"
#include "checkpoint/warm_start.hpp"
#include "concord/errors.hpp"
#include "support/agreement.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

/// What says nothing about the run's course.
bool is_free(const std::string& option) {
  static const std::set<std::string> free = {"cosim_stop",
                                             "cosim_time_limit",
                                             "cosim_hang_limit",
                                             "cosim_realtime",
                                             "cosim_realtime_anytime",
                                             "cosim_realtime_late",
                                             "cosim_realtime_lock",
                                             "cosim_summary",
                                             "cosim_trace",
                                             "cosim_fmu_calls",
                                             "cosim_progress",
                                             "cosim_monitor",
                                             "cosim_output",
                                             "cosim_view",
                                             "cosim_checkpoint_every",
                                             "cosim_checkpoint_keep",
                                             "cosim_restart",
                                             "cosim_restart_as_start",
                                             "cosim_checkpoint",
                                             "cosim_event_limit",
                                             "cosim_diverged",
                                             "cosim_forget",
                                             "options_file",
                                             "options_left",
                                             "log_view"};
  return free.contains(option);
}

/// What may change on the way, and is told.
bool is_told(const std::string& option) {
  return option.ends_with("_rtol") || option.ends_with("_atol") ||
         option == "cosim_checkpoint_epoch" || option.starts_with("cosim_record") ||
         option == "cosim_output_interval" || option == "cosim_output_times" ||
         option.ends_with("_fmu_emulator") || option.ends_with("_fmu_host");
}

using OptionValues = std::map<std::string, std::string>;

/// Without a correction, which takes it anyway.
bool asks_for_balance(const OptionValues& options) {
  const auto record = options.find("cosim_record");
  return record != options.end() && record->second.find("balance") != std::string::npos;
}

OptionValues by_name(const std::string& database) {
  OptionValues result;
  for (const auto& [name, value] : options::named(database)) result[name] = value;
  return result;
}

/// The lines of one that the other has not.
std::string lines_beyond(const std::string& lines, const std::string& others) {
  std::istringstream all(lines), known(others);
  std::set<std::string> there;
  std::string result;
  for (std::string line; std::getline(known, line);) there.insert(line);
  for (std::string line; std::getline(all, line);) {
    if (!there.contains(line)) result += (result.empty() ? "" : ", ") + line;
  }
  return result;
}

/// "it was run with left.m=6, and now with left.m=7"; an order that has changed counts, too.
std::string changed_values(const std::string& before, const std::string& now) {
  const auto shown = [](const std::string& some, const std::string& all) {
    return !some.empty() ? some : all.empty() ? "none" : "the others in another order";
  };
  return "other values of --set: " + shown(lines_beyond(before, now), before) + " then, " +
         shown(lines_beyond(now, before), now) + " now";
}

/// In the model of which it is; empty where nothing does.
std::string what_differs(const CheckpointContent& found, const CheckpointContent& now) {
  if (found.model != now.model) {
    return ", not to '" + now.model + "'";
  }
  std::string what = changed_files(found.files, now.files);
  if (what.empty() && found.changes != now.changes) {
    what = changed_values(found.changes, now.changes);
  }
  return what.empty() ? "" : " with another text, other files or values: " + what;
}

/// Of some subsystems: what others remember of them, what they do themselves.
struct Lanes {
  std::vector<Bytes> own, themselves;
  std::vector<ArchiveClass> classes{};
  LaneLayouts layouts{};
  void io(Archive& archive) { CONCORD_MEMBERS(archive, own, themselves, classes, layouts); }
};

Bytes packed_lanes(const Archive::Memory& memory, const std::vector<ArchiveClass>& classes,
                   const LaneLayouts& layouts) {
  Lanes lanes{memory.own, memory.themselves, classes, layouts};
  return packed(lanes);
}

void add(const std::vector<ArchiveClass>& some, std::vector<ArchiveClass>& all) {
  for (const ArchiveClass& one : some) {
    const auto same = [&](const ArchiveClass& known) { return known.name == one.name; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(one);
  }
}

/// Of one of them.
struct SubsystemMemory {
  Bytes own, itself;
  void io(Archive& archive) { CONCORD_MEMBERS(archive, own, itself); }
};

std::string in_words(double time) {
  char text[64];
  std::snprintf(text, sizeof text, "t = %.9g s", time);
  return text;
}

}  // namespace

Checkpoints::Checkpoints(SimulationCore& simulation, const RunTurn& turn,
                         std::function<void(Archive&)> others,
                         std::function<CheckpointedRows&()> rows)
    : simulation_(simulation),
      settings_(simulation.plan().settings.checkpoint),
      others_(std::move(others)),
      rows_(std::move(rows)) {
  if (wanted()) {
    const SimulationPlan& plan = simulation.plan();
    copy_.turn = turn;
    copy_.version = CONCORD_VERSION;
    copy_.model = plan.model.name;
    copy_.changes = plan.model.changes;
    copy_.files = simulation.file_prints();
    copy_.paces = plan.model.paces.value_or(Paces());
    if (rank_in(plan.comm) == 0) copy_.subsystems = prints_of_subsystems(plan.model);
    copy_.options = plan.options;
    copy_.ranks = ranks_of(plan.comm);
  }
}

std::optional<std::string> Checkpoints::restart() {
  if (settings_.restart.empty()) {
    return std::nullopt;
  }
  const MPI_Comm comm = simulation_.plan().comm;
  std::optional<Choice> choice;
  together(comm, [&] {
    if (rank_in(comm) == 0) choice = choose();
  });
  if (agree_on_largest(comm, choice ? 1 : 0) == 0) {
    return std::nullopt;
  }
  CheckpointContent found = choice ? std::move(choice->content) : CheckpointContent();
  MPI_Bcast(&found.time, 1, MPI_DOUBLE, 0, comm);
  MPI_Bcast(&found.steps, 1, MPI_INT64_T, 0, comm);
  copy_.time = found.time;
  copy_.steps = began_at_ = found.steps;
  copy_.rows = shared(comm, std::move(found.rows));
  own_ = scattered(found.memory);
  written_ = true;
  take_layouts(shared(comm, std::move(found.layouts)));
  Archive archive = simulation_.archive_of(own_);
  own_classes_ = shared(comm, std::move(found.classes));
  archive.require_classes(own_classes_);
  simulation_.restore(archive);
  others_(archive);
  if (agree_on_largest(comm, archive.at_end() ? 0 : 1) != 0) {
    throw InputError("-cosim_restart " + settings_.restart +
                     ": it holds more than is read here; start the run anew, without "
                     "-cosim_restart");
  }
  if (!choice) choice.emplace();
  written_ = agree_on_largest(comm, choice->path == settings_.path ? 1 : 0) != 0;
  keep_up_with_rows();
  return "goes on from " + in_words(copy_.time) + ", macro-step " + std::to_string(copy_.steps) +
         " ('" + choice->path + "')" + choice->told + told_;
}

/// Where they have begun anew, what is on the disk looks for those from before.
void Checkpoints::keep_up_with_rows() {
  if (rows_().mark() == copy_.rows) return;
  copy(copy_.steps);
  if (const auto failure = attempt_to_write()) {
    warn(*failure + "; the run goes on, and tries again");
  }
}

std::optional<Checkpoints::Choice> Checkpoints::choose() {
  return settings_.may_start ? choose_newest() : choose_given();
}

/// Nothing where no checkpoint is there at all.
std::optional<Checkpoints::Choice> Checkpoints::choose_newest() {
  const std::vector<fs::path> all = checkpoints_at(settings_.path);
  std::optional<Choice> without_rows;
  std::string told, first_failure;
  for (const fs::path& path : all) {
    Choice choice{path.string(), {}};
    std::string problem;
    try {
      choice.content = read_checkpoint(path);
    } catch (const InputError& error) {
      problem = error.what();
      if (first_failure.empty()) first_failure = problem;
    }
    if (problem.empty()) {
      if (!without_rows) require_same_run(choice.content);
      const auto obstacle = rows_().obstacle(choice.content.rows);
      if (!obstacle) {
        choice.told = told;
        return choice;
      }
      problem = "the results file of '" + choice.path + "' does not fit: " + obstacle->reason;
      if (first_failure.empty()) first_failure = problem;
      if (obstacle->lost && !without_rows) {
        choice.told = told;
        without_rows = std::move(choice);
      }
    }
    told += "; " + problem;
  }
  if (!without_rows && !all.empty()) {
    throw InputError("-cosim_restart auto: " + first_failure);
  }
  return without_rows;
}

/// Where only one before it has its rows, whoever has named this one decides.
std::optional<Checkpoints::Choice> Checkpoints::choose_given() {
  Choice choice{settings_.restart, read_checkpoint(settings_.restart)};
  require_same_run(choice.content);
  const auto obstacle = rows_().obstacle(choice.content.rows);
  if (!obstacle) return choice;
  for (const fs::path& path : checkpoints_at(settings_.restart)) {
    std::optional<CheckpointContent> other;
    try {
      other = read_checkpoint(path);
    } catch (const InputError&) {
      continue;
    }
    if (!rows_().obstacle(other->rows)) {
      throw InputError("-cosim_restart " + settings_.restart + ": its results file does not fit: " +
                       obstacle->reason + "; one before it fits: -cosim_restart " + path.string());
    }
  }
  return choice;
}

void Checkpoints::require_same_run(const CheckpointContent& found) {
  const auto refuse = [&](const std::string& what) {
    throw InputError("-cosim_restart " + settings_.restart + ": " + what +
                     "; start the run anew, without -cosim_restart");
  };
  if (found.version != copy_.version) {
    refuse("it was written by Concord " + found.version + ", this is " + copy_.version);
  }
  if (const std::string other = what_differs(found, copy_); !other.empty()) {
    refuse("it belongs to another model, '" + found.model + "'" + other);
  }
  if (const double stop = simulation_.plan().settings.stop; found.time > stop) {
    throw InputError("-cosim_restart " + settings_.restart + ": it stands at " +
                     in_words(found.time) + ", and the run is to stop at " + in_words(stop) +
                     "; give a later -cosim_stop, or start the run anew, without -cosim_restart");
  }
  if (found.ranks != copy_.ranks) {
    told_ += "; on " + std::to_string(copy_.ranks) + " instead of " + std::to_string(found.ranks) +
             " ranks from here on";
  }
  auto before = by_name(found.options), now = by_name(copy_.options);
  if (simulation_.plan().settings.method.balance == Balance::none &&
      asks_for_balance(before) != asks_for_balance(now)) {
    refuse(
        "balance errors add up from the start, so that -cosim_record balance cannot begin or end "
        "on the way");
  }
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
      refuse(change +
             "; the stop time, limits, tolerances, what is recorded and what is shown may change");
    }
    told_ += "; " + change + " from here on";
  }
}

void Checkpoints::require_possible() {
  if (!wanted()) {
    return;
  }
  const MPI_Comm comm = simulation_.plan().comm;
  together(comm, [&] {
    require_replaceable_checkpoint(settings_.path, copy_.model);
    if (rank_in(comm) == 0)
      lock_.emplace(LockedFile{link_target(settings_.path), "checkpoint", "-cosim_checkpoint"});
  });
  simulation_.snapshot(SnapshotFor::any_ranks);
}

void Checkpoints::begin() {
  if (!wanted()) {
    return;
  }
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
  if (const auto failure = attempt_to_write()) {
    warn(*failure + "; the run goes on, and tries again");
  }
}

void Checkpoints::warn(const std::string& failure) const {
  if (rank_in(simulation_.plan().comm) == 0) {
    std::fprintf(stderr, "concord: warning: %s\n", failure.c_str());
  }
}

void Checkpoints::complete() {
  if (!wanted()) {
    return;
  }
  gather_end();
  if (const auto failure = attempt_to_write()) {
    warn(*failure);
  }
}

/// Into the first rank's copy.
void Checkpoints::gather_end() {
  const SimulationPlan& plan = simulation_.plan();
  Lanes own{{}, simulation_.memories()};
  const bool first = rank_in(plan.comm) == 0;
  if (!first && !plan.replicated) send_bytes(plan.comm, packed(own), 0);
  if (!first) {
    return;
  }
  copy_.end.emplace();
  copy_.end->time = simulation_.time();
  copy_.end->themselves.resize(plan.model.subsystems.size());
  for (int from = 0; from < (plan.replicated ? 1 : copy_.ranks); ++from) {
    if (from > 0) own = unpacked<Lanes>(received_bytes(plan.comm, from));
    std::size_t k = 0;
    for (const std::size_t g : plan.owners().subsystems_of(from)) {
      copy_.end->themselves[g] = std::move(own.themselves[k++]);
    }
  }
}

void Checkpoints::keep() {
  const bool copied = !own_.common.empty();
  if (!wanted() || !copied || written_) {
    return;
  }
  try {
    if (const auto failure = attempt_to_write()) warn(*failure);
  } catch (const SimulationError& error) {
    warn("there is no checkpoint of " + in_words(copy_.time) +
         ", whose rows are lost: " + error.what() + "; go on from the last one that was written");
  }
}

void Checkpoints::withdraw() {
  if (!wanted()) return;
  together(simulation_.plan().comm, [&] {
    if (rank_in(simulation_.plan().comm) == 0) remove_checkpoints(settings_.path);
  });
}

bool Checkpoints::due() const {
  const double since = WorkClock::seconds_since(written_at_);
  return rank_in(simulation_.plan().comm) == 0 && since >= settings_.every;
}

void Checkpoints::copy(std::int64_t steps) {
  const WorkClock::Instant began = WorkClock::now();
  Archive archive = simulation_.snapshot(SnapshotFor::any_ranks);
  others_(archive);
  own_ = archive.take_memory();
  own_classes_ = archive.classes();
  schema_ = archive.take_schema();
  copy_.time = simulation_.time();
  copy_.steps = steps;
  copy_.rows = rows_().mark();
  written_ = false;
  simulation_.subsystems().clock().add_once(Phase::checkpoint, began);
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

/// Why the memory of this and other ranks cannot become one file; `own`: what is this rank's alone.
std::optional<std::string> Checkpoints::obstacle(const Bytes& own) const {
  const MPI_Comm comm = simulation_.plan().comm;
  constexpr std::size_t most = std::numeric_limits<int>::max();
  const auto check = static_cast<double>(check_value(own_.common));
  const bool much = std::max(own.size(), own_.common.size()) > most;
  std::array<double, 3> largest = {much ? 1.0 : 0.0, check, -check};
  agree_on_largest(comm, largest);
  if (largest[0] != 0.0) {
    return "a rank has more than 2 GB to save; use more ranks";
  }
  const bool clocks_differ = simulation_.plan().replicated;
  if (!clocks_differ && largest[1] != -largest[2]) {
    return "ranks disagree about what they have in common, which is a defect of Concord; use one "
           "rank";
  }
  return std::nullopt;
}

/// Into the first rank's copy, in the model's order.
void Checkpoints::gather(const Bytes& own) {
  const SimulationPlan& plan = simulation_.plan();
  if (rank_in(plan.comm) != 0) {
    if (!plan.replicated) send_bytes(plan.comm, own, 0);
    return;
  }
  copy_.classes = own_classes_;
  copy_.layouts = own_layouts_;
  if (plan.replicated) {
    copy_.memory = own_;
    return;
  }
  const std::size_t n = plan.model.subsystems.size();
  copy_.memory.common = own_.common;
  copy_.memory.own.resize(n);
  copy_.memory.themselves.resize(n);
  copy_.layouts.of.resize(1 + 2 * n);
  for (int from = 0; from < copy_.ranks; ++from) {
    Lanes lanes = from == 0 ? Lanes{own_.own, own_.themselves, own_classes_, own_layouts_}
                            : unpacked<Lanes>(received_bytes(plan.comm, from));
    const std::vector<std::uint32_t> here = copy_.layouts.take(lanes.layouts);
    const std::size_t count = lanes.own.size();
    std::size_t k = 0;
    for (const std::size_t g : plan.share.subsystems_of(from)) {
      copy_.layouts.of[1 + g] = here[1 + k];
      copy_.layouts.of[1 + n + g] = here[1 + count + k];
      copy_.memory.own[g] = std::move(lanes.own[k]);
      copy_.memory.themselves[g] = std::move(lanes.themselves[k++]);
    }
    add(lanes.classes, copy_.classes);
  }
}

/// Of this rank's lanes.
void Checkpoints::take_layouts(const LaneLayouts& whole) {
  const SimulationPlan& plan = simulation_.plan();
  const std::size_t n = whole.of.size() / 2;
  own_layouts_ = {whole.texts, {whole.of.at(0)}};
  for (const std::size_t first : {std::size_t{1}, 1 + n})
    for (const std::size_t g :
         plan.owners().subsystems_of(plan.replicated ? 0 : rank_in(plan.comm)))
      own_layouts_.of.push_back(whole.of[first + g]);
}

/// Each rank's own, of all that the first rank has.
Archive::Memory Checkpoints::scattered(Archive::Memory& whole) const {
  const SimulationPlan& plan = simulation_.plan();
  Bytes common = std::move(whole.common);
  share_bytes(plan.comm, common);
  std::vector<SubsystemMemory> all;
  for (std::size_t g = 0; g < whole.own.size(); ++g) {
    all.push_back({std::move(whole.own[g]), std::move(whole.themselves[g])});
  }
  Archive::Memory result{std::move(common), {}, {}};
  for (SubsystemMemory& memory : dealt(plan, std::move(all))) {
    result.own.push_back(std::move(memory.own));
    result.themselves.push_back(std::move(memory.itself));
  }
  return result;
}

/// What has gone wrong, in words. Throws SimulationError where its rows are not on the disk.
std::optional<std::string> Checkpoints::attempt_to_write() {
  const MPI_Comm comm = simulation_.plan().comm;
  if (schema_) own_layouts_ = layouts_of(*schema_);
  schema_.reset();
  const Bytes own = rank_in(comm) == 0 ? Bytes() : packed_lanes(own_, own_classes_, own_layouts_);
  if (const auto reason = obstacle(own)) {
    return "cannot write the checkpoint '" + settings_.path + "': " + *reason;
  }
  rows_().secure(copy_.rows);
  written_at_ = WorkClock::now();
  gather(own);
  const auto failure = failure_on_any_rank(comm, [&] {
    if (rank_in(comm) != 0) return;
    try {
      write_checkpoint(settings_.path, copy_, settings_.kept);
    } catch (const std::system_error& error) {
      throw std::runtime_error("cannot write the checkpoint '" + settings_.path +
                               "': " + error.code().message());
    }
  });
  copy_.memory = {};
  written_ = !failure;
  if (simulation_.has_parts())
    simulation_.subsystems().clock().add_once(Phase::checkpoint, written_at_);
  return failure;
}

}  // namespace concord
