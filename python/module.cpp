#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "adapter.hpp"
#include "calls.hpp"
#include "cli/resampling.hpp"
#include "concord/model_builder.hpp"
#include "concord/program.hpp"
#include "concord/results_file.hpp"
#include "concord/simulation.hpp"
#include "interpreter.hpp"
#include "python_ode.hpp"
#include "record/unreadable_results.hpp"
#include "recorded.hpp"
#include "serving.hpp"

// What of the library Python needs, as it is; the package around it (concord/*.py) makes it
// Pythonic. The interpreter's lock is held throughout: PETSc knows one thread, and the functions of
// subsystems need it.

namespace concord::python {
namespace {

/// While it lives, the library is at work. It cannot be asked for more from inside, by functions of
/// subsystems, nor meanwhile by other threads.
class AtWork {
 public:
  AtWork() {
    if (busy_) {
      throw InputError(
          "concord is at work already: functions of subsystems and other threads must not call it "
          "before it returns");
    }
    if (foreign_code_has_crashed()) {
      throw InputError(
          "the code of a subsystem has crashed in this process, or called exit(), and a second "
          "time "
          "would end it: start Python anew; with the option subsystem_isolated=True subsystems "
          "have "
          "processes of their own, whose crashes do no harm here");
    }
    busy_ = true;
  }
  ~AtWork() { busy_ = false; }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  static inline bool busy_ = false;
};

/// MPI and PETSc, from the first call that needs them to the interpreter's end.
class Libraries {
 public:
  static void need() {
    if (closed_) throw InputError("concord has ended with the interpreter");
    if (session_ != nullptr) return;
    const std::set<std::string> before = environment_names();
    session_ = std::make_unique<Session>(1, arguments_);
    forget_variables_but(before);
  }
  static void close() {
    closed_ = true;
    session_.reset();
  }

 private:
  static std::set<std::string> environment_names() {
    std::set<std::string> names;
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string text = *variable;
      names.insert(text.substr(0, text.find('=')));
    }
    return names;
  }
  /// With what Open MPI tells itself, an mpirun that this program starts would end at once.
  static void forget_variables_but(const std::set<std::string>& before) {
    for (const std::string& name : environment_names()) {
      if (!before.contains(name)) unsetenv(name.c_str());
    }
  }

  static inline char name_[] = "concord";
  static inline char* arguments_[] = {name_, nullptr};
  static inline std::unique_ptr<Session> session_;
  static inline bool closed_ = false;
};

MPI_Comm world() {
  Libraries::need();
  return MPI_COMM_WORLD;
}

/// The text of the first rank.
std::string broadcast(std::string text) {
  const MPI_Comm comm = world();
  auto size = static_cast<int>(text.size());
  MPI_Bcast(&size, 1, MPI_INT, 0, comm);
  text.resize(static_cast<std::size_t>(size));
  MPI_Bcast(text.data(), size, MPI_CHAR, 0, comm);
  return text;
}

/// A function that shows how far a run is must not end it.
template <class... Values>
void tell(const py::object& listener, Values... values) {
  try {
    listener(values...);
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("concord's progress");
  }
}

RunManner manner_of(bool tells, const py::object& begins, const py::object& step) {
  RunManner manner{.tells = tells};
  if (!begins.is_none()) {
    manner.begins = [begins](double start, double stop) { tell(begins, start, stop); };
  }
  if (!step.is_none()) {
    manner.step = [step](const StepInfo& info) { tell(step, info.end); };
  }
  return manner;
}

py::dict as_dict(const RunEnding& ending) {
  py::dict result;
  result["status"] = ending.status;
  result["reason"] = ending.reason;
  result["signal"] = ending.signal;
  result["without_effect"] = ending.without_effect;
  return result;
}

py::dict run(const std::vector<std::string>& words, const ModelBuilder* model, bool tells,
             const py::object& begins, const py::object& step) {
  const AtWork at_work;
  Libraries::need();
  const RunManner manner = manner_of(tells, begins, step);
  return as_dict(model == nullptr ? run_inside(words, manner) : run_inside(*model, words, manner));
}

/// While it lives, Ctrl-C is kept from Python, which would raise it within a subsystem's function
/// and so fail the macro-step; a second one is not. Afterwards Python gets to know.
class Interruption {
 public:
  Interruption() {
    came_ = 0;
    struct sigaction action = {};
    action.sa_handler = keep;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, nullptr, &before_);
    if (before_.sa_handler != SIG_IGN) sigaction(SIGINT, &action, nullptr);
  }
  ~Interruption() {
    sigaction(SIGINT, &before_, nullptr);
    if (came()) std::raise(SIGINT);
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static bool came() { return came_ != 0; }

 private:
  static void keep(int number) {
    if (came()) {
      sigaction(number, &before_, nullptr);
      std::raise(number);
    }
    came_ = 1;
  }

  static inline volatile std::sig_atomic_t came_ = 0;
  static inline struct sigaction before_ = {};
};

/// A Simulation that Python holds, which ends at the latest with the interpreter; with its results
/// file, where the options ask for one: from a start to the end, a step back or another start.
class HeldSimulation {
 public:
  HeldSimulation(const ModelSource& model, const Options& options, std::uintptr_t comm)
      : records_(options.contains("cosim_output")) {
    const AtWork at_work;
    const MPI_Comm all = world();
    simulation_ = std::make_unique<Simulation>(
        comm == 0 ? all : *reinterpret_cast<const MPI_Comm*>(comm), model, options);
    living_.insert(this);
  }
  ~HeldSimulation() {
    living_.erase(this);
    try {
      close();
    } catch (const std::exception& error) {
      PySys_WriteStderr("concord: warning: %s\n", error.what());
    }
  }
  HeldSimulation(const HeldSimulation&) = delete;
  HeldSimulation& operator=(const HeldSimulation&) = delete;

  void close() {
    end_file();
    simulation_.reset();
  }
  static void close_all() {
    for (HeldSimulation* living : living_) living->close();
  }

  const Simulation& look() const { return open(); }

  /// What the library is asked for, while it is at work.
  template <class Work>
  auto with(Work work) {
    const AtWork at_work;
    return work(open());
  }

  void start() {
    with([&](Simulation& simulation) {
      simulation.start();
      begin_file(simulation);
    });
  }

  void advance() {
    const Interruption interruption;
    with([&](Simulation& simulation) {
      simulation.advance();
      end_file_with(simulation);
    });
  }

  /// Ctrl-C ends at the next communication point, on all ranks.
  void advance_until(double time) {
    const Interruption interruption;
    with([&](Simulation& simulation) {
      simulation.advance_until(time, [] { return !Interruption::came(); });
      end_file_with(simulation);
    });
  }

  void reset(const Changes& values) {
    with([&](Simulation& simulation) {
      end_file();
      simulation.reset(values);
      begin_file(simulation);
    });
    variables_.clear();
  }

  void restore(const Snapshot& snapshot) {
    with([&](Simulation& simulation) {
      if (snapshot.time() < simulation.time()) end_file();
      simulation.restore(snapshot);
    });
  }

  std::vector<double> values(const std::vector<std::string>& names) {
    return with([&](Simulation& simulation) {
      std::vector<Variable> variables;
      for (const std::string& name : names) variables.push_back(variable(simulation, name));
      std::vector<double> result(names.size());
      simulation.values(variables, result);
      return result;
    });
  }

 private:
  Simulation& open() const {
    if (simulation_ == nullptr) throw InputError("the simulation is closed");
    return *simulation_;
  }
  Variable variable(const Simulation& simulation, const std::string& name) {
    const auto known = variables_.find(name);
    if (known != variables_.end()) return known->second;
    return variables_.emplace(name, simulation.variable(name)).first->second;
  }

  void begin_file(Simulation& simulation) {
    if (records_) file_.emplace(simulation, "", "Python, step by step");
  }
  void end_file() {
    if (!file_) return;
    ResultsFile last = *std::exchange(file_, std::nullopt);
    last.close();
  }
  void end_file_with(const Simulation& simulation) {
    if (simulation.finished()) end_file();
  }

  static inline std::set<HeldSimulation*> living_;
  bool records_;
  std::unique_ptr<Simulation> simulation_;
  std::optional<ResultsFile> file_;  ///< of simulation_
  std::map<std::string, Variable> variables_;
};

/// (name, unit, start or None, nominal)
using Described = std::tuple<std::string, std::string, std::optional<double>, double>;

/// All that Python says of a subsystem.
struct Boundary {
  std::vector<Described> inputs, states, outputs;
  std::vector<std::pair<std::string, double>> parameters;
  std::optional<std::vector<std::pair<std::size_t, std::size_t>>> feedthrough;
  bool time_dependent;
};

OdeInterface interface_of(const Boundary& boundary) {
  OdeInterface result;
  for (const auto& [name, unit, start, nominal] : boundary.inputs)
    result.inputs.push_back({.name = name, .unit = unit, .start = start, .nominal = nominal});
  for (const auto& [name, unit, start, nominal] : boundary.states)
    result.states.push_back(
        {.name = name, .unit = unit, .start = start.value_or(0.0), .nominal = nominal});
  for (const auto& [name, unit, start, nominal] : boundary.outputs)
    result.outputs.push_back({.name = name, .unit = unit, .nominal = nominal});
  if (boundary.feedthrough) {
    result.feedthrough.emplace();
    for (const auto& [output, input] : *boundary.feedthrough)
      result.feedthrough->push_back({output, input});
  }
  for (const auto& [name, value] : boundary.parameters) result.parameters.push_back(name);
  result.time_dependent = boundary.time_dependent;
  return result;
}

void add_subsystem(ModelBuilder& model, const std::string& name, const Boundary& boundary,
                   const py::function& derivatives, const py::function& outputs) {
  auto subsystem = std::make_shared<PythonSubsystem>();
  subsystem->name = name;
  subsystem->interface = interface_of(boundary);
  subsystem->derivatives = derivatives;
  subsystem->outputs = outputs;
  for (const auto& [parameter, value] : boundary.parameters) subsystem->parameters.push_back(value);
  model.add(name, [subsystem] { return std::make_unique<PythonOde>(subsystem); });
}

/// `error` in Python, with what a subsystem's function has raised as its cause. What asks for the
/// program's end, as Ctrl-C, is no failure of the simulation.
void raise(const char* type, const char* text) {
  const py::object cause = Raised::take(text);
  if (!cause.is_none() && PyObject_IsInstance(cause.ptr(), PyExc_Exception) == 0) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(cause.ptr())), cause.ptr());
    return;
  }
  const py::object error = py::module_::import("concord._errors").attr(type)(text);
  if (!cause.is_none()) PyException_SetCause(error.ptr(), py::object(cause).release().ptr());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
}

void register_errors() {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const UnreadableResults& error) {
      raise("UnreadableResults", error.what());
    } catch (const InputError& error) {
      raise("InputError", error.what());
    } catch (const SimulationError& error) {
      foreign_code_has_crashed();  // from here on Python knows, and ends as it wants
      raise("SimulationError", error.what());
    }
  });
}

void define_builder(py::module_& m) {
  py::class_<Boundary>(m, "Boundary")
      .def(py::init([](std::vector<Described> inputs, std::vector<Described> states,
                       std::vector<Described> outputs,
                       std::vector<std::pair<std::string, double>> parameters,
                       std::optional<std::vector<std::pair<std::size_t, std::size_t>>> feedthrough,
                       bool time_dependent) {
        return Boundary{std::move(inputs),     std::move(states),      std::move(outputs),
                        std::move(parameters), std::move(feedthrough), time_dependent};
      }));
  py::class_<ModelBuilder>(m, "ModelBuilder")
      .def(py::init<std::string, double, double>())
      .def("add", &add_subsystem)
      .def("add_fmu", [](ModelBuilder& b, std::string name,
                         std::string path) { b.add_fmu(std::move(name), std::move(path)); })
      .def("start_value", [](ModelBuilder& b, std::string name,
                             double value) { b.start_value(std::move(name), value); })
      .def("connect",
           [](ModelBuilder& b, std::string output, std::string input, double factor, double delay) {
             b.connect(std::move(output), std::move(input), factor, delay);
           })
      .def("constrain",
           [](ModelBuilder& b, std::string unknown, std::string equation,
              std::vector<std::pair<std::string, double>> feeds, double start) {
             b.constrain(std::move(unknown), std::move(equation), std::move(feeds), start);
           })
      .def("initial",
           [](ModelBuilder& b, std::string equation, std::vector<std::string> free) {
             b.initial(std::move(equation), std::move(free));
           })
      .def("event", [](ModelBuilder& b, double time) { b.event(time); })
      .def("group", [](ModelBuilder& b, std::vector<std::string> subsystems) {
        b.group(std::move(subsystems));
      });
}

/// `again` builds the model with other values.
ModelSource source_of(const ModelBuilder& model, const py::function& again) {
  return [first = model.source(), again](const Changes& values) {
    if (values.empty()) return first({});
    try {
      return again(values).cast<const ModelBuilder&>().source()({});
    } catch (const py::error_already_set& error) {
      throw InputError(py::str(error.value()).cast<std::string>());
    }
  };
}

void define_simulation(py::module_& m) {
  using Held = HeldSimulation;
  py::class_<Snapshot>(m, "Snapshot").def_property_readonly("time", &Snapshot::time);
  py::class_<Held>(m, "Simulation")
      .def(py::init([](const std::string& path, const std::vector<std::string>& changes,
                       const Options& options, std::uintptr_t comm) {
        return std::make_unique<Held>(model_file(path, changes), options, comm);
      }))
      .def(py::init([](const ModelBuilder& model, const py::function& again, const Options& options,
                       std::uintptr_t comm) {
        return std::make_unique<Held>(source_of(model, again), options, comm);
      }))
      .def("reset", &Held::reset)
      .def("start", &Held::start)
      .def("advance", &Held::advance)
      .def("advance_until", &Held::advance_until)
      .def("values", &Held::values)
      .def("set", [](Held& s, const std::string& name,
                     double value) { s.with([&](Simulation& it) { it.set(name, value); }); })
      .def("snapshot", [](Held& s) { return s.with([](Simulation& it) { return it.snapshot(); }); })
      .def("restore", &Held::restore)
      .def("close", &Held::close)
      .def("variables", [](const Held& s) { return s.look().variables(); })
      .def("parameters", [](const Held& s) { return s.look().parameters(); })
      .def("finished", [](const Held& s) { return s.look().finished(); })
      .def("time", [](const Held& s) { return s.look().time(); })
      .def("stop_time", [](const Held& s) { return s.look().stop_time(); })
      .def("end_reason", [](const Held& s) { return s.look().end_reason(); });
}

void define_ranks(py::module_& m) {
  m.def("rank", [] {
    int rank = 0;
    MPI_Comm_rank(world(), &rank);
    return rank;
  });
  m.def("ranks", [] {
    int ranks = 1;
    MPI_Comm_size(world(), &ranks);
    return ranks;
  });
  m.def("broadcast", &broadcast);
  m.def("barrier", [] { MPI_Barrier(world()); });
  m.def("mpi_library", [] {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int size = 0;
    MPI_Get_library_version(text, &size);
    return std::string(text, static_cast<std::size_t>(size));
  });
}

/// A signal at times between its rows, all of them within these, as `concord export --interval`
/// goes. Without `slopes` none are known.
std::vector<double> resampled(const std::vector<double>& time, const std::vector<double>& at,
                              std::vector<std::size_t> events, const std::vector<double>& values,
                              const std::vector<double>& left, const std::vector<double>& slopes,
                              const std::vector<double>& left_slopes) {
  const Resampling between(time, at, GridEvents{std::move(events), {}});
  return between({values, left, slopes, left_slopes});
}

}  // namespace

PYBIND11_MODULE(_concord, m) {
  m.doc() = "The library below the package concord.";
  register_errors();
  define_ranks(m);
  define_builder(m);
  define_simulation(m);
  m.def("run", &run);
  m.def("resampled", &resampled);
  define_recorded(m);
  define_serving(m);
  if (!Interpreter::is_ours()) python_runs_concord(adapter());
  py::module_::import("atexit").attr("register")(py::cpp_function([] {
    HeldSimulation::close_all();
    Libraries::close();
  }));
}

}  // namespace concord::python
