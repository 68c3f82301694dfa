#include "concord/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "files/sealed_bytes.hpp"
#include "simulation/simulation_core.hpp"
#include "simulation/step_listener.hpp"
#include "support/agreement.hpp"
#include "support/options.hpp"
#include "support/petsc.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

void require_libraries() {
  int mpi = 0;
  MPI_Initialized(&mpi);
  if (mpi == 0 || PetscInitializeCalled == PETSC_FALSE) {
    throw InputError(std::string(mpi == 0 ? "MPI" : "PETSc") +
                     " is not initialised; make a concord::Session before the first simulation, or "
                     "call MPI_Init and PetscInitialize");
  }
}

/// The simulation's own, freed while MPI is there.
class OwnRanks {
 public:
  explicit OwnRanks(MPI_Comm comm) { MPI_Comm_dup(comm, &comm_); }
  ~OwnRanks() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) {
      MPI_Comm_free(&comm_);
    }
  }
  OwnRanks(const OwnRanks&) = delete;
  OwnRanks& operator=(const OwnRanks&) = delete;
  operator MPI_Comm() const { return comm_; }  // NOLINT: stands for its communicator

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

OptionsHandle database_of(const Options& given) {
  std::vector<std::string> words;
  for (const auto& [name, value] : given) {
    words.insert(words.end(), {"-" + name, value});
  }
  return options_of(words);
}

using Names = std::vector<std::string>;

/// They change the model before there is a plan.
void refuse_options_of_programs(const Settings& settings) {
  const char* found = !settings.schedule_efforts.empty() ? "cosim_schedule_efforts" : nullptr;
  if (settings.schedule_signals == ScheduleSignals::weighted) {
    found = "cosim_schedule_signals";
  }
  if (found != nullptr) {
    throw InputError(std::string("option -") + found +
                     " is read by concord and concord::run_program only; leave it out, and give "
                     "the model groups of its own where their schedule is wanted");
  }
}

}  // namespace

struct Snapshot::Memory {
  std::shared_ptr<const std::string> identity;
  std::string end_reason;
  std::vector<std::byte> memory;
};

std::vector<std::byte> Snapshot::bytes() const {
  if (!memory_) {
    throw InputError("bytes: the snapshot holds nothing; take one with Simulation::snapshot");
  }
  std::string version = CONCORD_VERSION, identity = *memory_->identity;
  Memory memory = *memory_;
  double time = time_;
  Archive archive;
  archive(version, identity, memory.end_reason, memory.memory, time);
  return sealed(archive.bytes());
}

Snapshot Snapshot::of_bytes(std::span<const std::byte> bytes) {
  const auto content = unsealed(bytes);
  if (!content) {
    throw InputError("these " + std::to_string(bytes.size()) +
                     " bytes are no whole snapshot; give those that Snapshot::bytes has given");
  }
  Archive archive(std::vector<std::byte>(content->begin(), content->end()));
  std::string version, identity;
  archive(version);
  if (version != CONCORD_VERSION) {
    throw InputError("the snapshot is of Concord " + version +
                     ", this is " CONCORD_VERSION "; take it anew");
  }
  auto memory = std::make_shared<Memory>();
  Snapshot result;
  archive(identity, memory->end_reason, memory->memory, result.time_);
  memory->identity = std::make_shared<const std::string>(std::move(identity));
  result.memory_ = std::move(memory);
  return result;
}

/// Starts what is not there.
struct Session::Owned {
  std::unique_ptr<MpiSession> mpi;
  std::unique_ptr<PetscSession> petsc;
};

Session::Session(int argc, char** argv) : owned_(std::make_unique<Owned>()) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0) {
    owned_->mpi = std::make_unique<MpiSession>(&argc, &argv);
  }
  if (PetscInitializeCalled == PETSC_FALSE) {
    owned_->petsc = std::make_unique<PetscSession>(argc, argv, MPI_COMM_WORLD);
  }
}

Session::Session(MPI_Comm comm) : owned_(std::make_unique<Owned>()) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0) {
    throw InputError("a Session on a communicator needs MPI; call MPI_Init before it");
  }
  if (PetscInitializeCalled == PETSC_FALSE) {
    char name[] = "concord";
    char* arguments[] = {name, nullptr};
    owned_->petsc = std::make_unique<PetscSession>(1, arguments, comm);
  }
}

Session::~Session() {
  if (owned_) {
    owned_->petsc.reset();
  }
}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

struct Simulation::Parts {
  Parts(MPI_Comm ranks, ModelSource model, const Options& options_given)
      : comm(ranks),
        given(options_given),
        options(database_of(given)),
        collective(comm),
        source(std::move(model)) {
    inside([&] { core = made({}); });
  }

  std::unique_ptr<SimulationCore> made(const Changes& values) {
    std::shared_ptr<Model> model;
    together(comm, [&] { model = source(values); });
    auto plan = std::make_unique<SimulationPlan>(comm, std::move(*model));
    refuse_options_of_programs(plan->settings);
    for (SubsystemSettings& subsystem : plan->settings.subsystems) {
      subsystem.recorded.clear();  // whatever is recorded, any output may be read
    }
    return std::make_unique<SimulationCore>(std::move(plan));
  }

  void reset(const Changes& values) {
    if (core && core->observers() > listeners.size()) {
      throw InputError("reset: a results file of the simulation is open; close it before");
    }
    inside([&] {
      std::unique_ptr<SimulationCore> other = made(values);
      for (const auto& listener : listeners) other->observe(*listener);
      core = std::move(other);
      changes = values;
      identity_.reset();
      end_reason.clear();
      started = true;
      core->start();
    });
  }

  /// With the simulation's own options; failures of one rank alone end all.
  template <class Work>
  void inside(const Work& work) {
    const PetscScope scope(options);
    collective(work);
  }

  /// Throws where a rank is where it ought not to be in the life of a simulation.
  void require_started(const char* what) const {
    if (!started) {
      throw InputError(std::string(what) + " needs a simulation that was started");
    }
  }

  /// The end that a subsystem asks for is no failure.
  void advance() {
    try {
      core->advance();
    } catch (const EndOfSimulation& end) {
      end_reason = end.what();
    }
  }

  /// What a snapshot must have in common with whoever restores it.
  const std::shared_ptr<const std::string>& identity();
  bool is_own(const Snapshot::Memory& memory) {
    return memory.identity == identity() || *memory.identity == *identity();
  }

  OwnRanks comm;
  Options given;
  OptionsHandle options;
  Collective collective;
  ModelSource source;
  Changes changes;  ///< of the last reset
  std::unique_ptr<SimulationCore> core;
  std::vector<std::unique_ptr<StepListener>> listeners;
  std::string end_reason;
  bool started = false;

 private:
  std::shared_ptr<const std::string> identity_;  ///< null: not asked for yet
};

Simulation::Simulation(MPI_Comm comm, const ModelSource& model, const Options& options) {
  require_libraries();
  parts_ = std::make_unique<Parts>(comm, model, options);
}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

SimulationCore& Simulation::core() { return *parts_->core; }
void Simulation::require_started(const char* what) const { parts_->require_started(what); }

void Simulation::start() {
  if (std::exchange(parts_->started, true)) {
    throw InputError("the simulation was started before");
  }
  parts_->inside([&] { parts_->core->start(); });
}

void Simulation::advance() {
  parts_->require_started("advance");
  if (finished()) {
    throw InputError("the simulation is finished; nothing is left to advance");
  }
  parts_->inside([&] { parts_->advance(); });
}

void Simulation::advance_until(double time, const std::function<bool()>& go_on) {
  parts_->require_started("advance_until");
  if (time < this->time()) {
    throw InputError("advance_until(" + exact_number(time) +
                     "): the simulation is at t = " + exact_number(this->time()) + " s already");
  }
  const double rounding = 2.0 * std::numeric_limits<double>::epsilon() *
                          std::max(std::abs(time), std::abs(stop_time()));
  parts_->inside([&] {
    parts_->core->stop_over(time);
    bool on = true;
    while (on && !finished() && time - this->time() > rounding) {
      parts_->advance();
      on = !go_on || agree_on_largest(parts_->comm, go_on() ? 0 : 1) == 0;
    }
  });
}

bool Simulation::finished() const {
  return !parts_->end_reason.empty() || (parts_->started && parts_->core->finished());
}
double Simulation::time() const {
  return parts_->started ? parts_->core->time() : parts_->core->plan().settings.start;
}
double Simulation::stop_time() const { return parts_->core->plan().settings.stop; }
const std::string& Simulation::end_reason() const { return parts_->end_reason; }

std::vector<std::string> Simulation::variables() const {
  const WrittenVariables& written = parts_->core->plan().written;
  Names all;
  for (const Names* names :
       {&written.output_names(), &written.input_names(), &written.state_names()}) {
    all.insert(all.end(), names->begin(), names->end());
  }
  return all;
}

std::vector<std::string> Simulation::parameters() const {
  Names all;
  for (const auto& parameter : parts_->core->parameters()) all.push_back(parameter.name);
  return all;
}

Variable Simulation::variable(const std::string& name) const {
  const WrittenVariables& written = parts_->core->plan().written;
  const auto in = [&](Variable::Kind kind, const Names& names) -> std::optional<Variable> {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end()
               ? std::nullopt
               : std::optional(Variable(kind, static_cast<std::size_t>(found - names.begin())));
  };
  if (const auto output = in(Variable::Kind::output, written.output_names())) {
    return *output;
  }
  if (const auto input = in(Variable::Kind::input, written.input_names())) {
    return *input;
  }
  if (const auto state = in(Variable::Kind::state, written.state_names())) {
    return *state;
  }
  const Names parameters = this->parameters();
  if (const auto parameter = in(Variable::Kind::parameter, parameters)) {
    return *parameter;
  }
  Names all = variables();
  all.insert(all.end(), parameters.begin(), parameters.end());
  const auto similar = nearest(name, all);
  throw InputError("the model has no output, input or state '" + name +
                   "', and no such parameter that can be read" +
                   (similar ? "; did you mean '" + *similar + "'?" : ""));
}

double Simulation::value(Variable variable) {
  double result = 0.0;
  values(std::span(&variable, 1), std::span(&result, 1));
  return result;
}

void Simulation::values(std::span<const Variable> variables, std::span<double> result) {
  parts_->require_started("reading a value");
  if (result.size() != variables.size()) {
    throw InputError("values: room for " + std::to_string(result.size()) + " values of " +
                     std::to_string(variables.size()) + " variables");
  }
  parts_->core->read(variables, result);
}

Settable Simulation::settable(const std::string& name) const {
  return parts_->core->settable(name);
}

void Simulation::set(Settable what, double value) {
  parts_->inside([&] { parts_->core->set(what, value, parts_->started); });
}

const std::shared_ptr<const std::string>& Simulation::Parts::identity() {
  if (identity_) {
    return identity_;
  }
  const Network& network = core->plan().network;
  std::string words;
  for (const Names* names :
       {&network.output_names(), &network.input_names(), &network.state_names()}) {
    words += joined(*names) + ";";
  }
  for (const auto& [name, value] : given) {
    if (name != "cosim_stop") words += " -" + name + " " + value;
  }
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  words += "\n" + core->plan().model.changes + "\n" + joined(changes);
  words += " " + std::to_string(rank) + " of " + std::to_string(size);
  return identity_ = std::make_shared<const std::string>(std::move(words));
}

Snapshot Simulation::snapshot() {
  parts_->require_started("snapshot");
  Snapshot result;
  parts_->inside([&] {
    result.memory_ = std::make_shared<const Snapshot::Memory>(
        Snapshot::Memory{parts_->identity(), parts_->end_reason,
                         parts_->core->snapshot(SnapshotFor::these_ranks).take_memory().common});
  });
  result.time_ = time();
  return result;
}

void Simulation::restore(const Snapshot& snapshot) {
  parts_->inside([&] {
    const bool same = snapshot.memory_ && parts_->is_own(*snapshot.memory_);
    if (agree_on_largest(parts_->comm, same ? 0 : 1) != 0) {
      throw InputError(
          "restore: the snapshot belongs to another model, other options or other ranks");
    }
    Archive archive(snapshot.memory_->memory);
    parts_->core->restore(archive);
    parts_->end_reason = snapshot.memory_->end_reason;
    parts_->started = true;
  });
}

void Simulation::reset(const Changes& values) { parts_->reset(values); }

void Simulation::observe(std::function<void(const StepInfo&)> observer) {
  parts_->listeners.push_back(std::make_unique<StepListener>(std::move(observer)));
  parts_->core->observe(*parts_->listeners.back());
}

}  // namespace concord
