#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/model_command.hpp"
#include "concord/errors.hpp"
#include "simulation/simulation_plan.hpp"
#include "simulation/stop_signals.hpp"
#include "subsystem/isolated/distant_host.hpp"
#include "subsystem/isolated/hosted_subsystem.hpp"
#include "subsystem/remote/served_subsystem.hpp"
#include "subsystem/remote/serving_link.hpp"
#include "support/foreign_call.hpp"
#include "support/options.hpp"
#include "support/petsc.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

[[noreturn]] void refuse_to_serve(const std::string& problem) {
  throw InputError("concord serve: " + problem);
}

/// The one that is named, or the only one there is.
std::size_t served_in(const GivenWords& own, const Model& model) {
  std::vector<std::string> names;
  for (const SubsystemEntry& entry : model.subsystems)
    if (entry.written && !entry.description.constraint) names.push_back(entry.description.name);
  const auto wanted = own.value("subsystem");
  if (!wanted && names.size() != 1)
    refuse_to_serve("there are " + std::to_string(names.size()) +
                    " subsystems; say which, --subsystem " +
                    (names.empty() ? "NAME" : names.front()));
  const std::string& name = wanted ? *wanted : names.front();
  const auto found = std::ranges::find(
      model.subsystems, name, [](const SubsystemEntry& one) { return one.description.name; });
  if (found == model.subsystems.end())
    refuse_to_serve("--subsystem " + in_quotes(name) + " is none of the model's; " +
                    known("subsystems", name, names));
  return static_cast<std::size_t>(found - model.subsystems.begin());
}

RemoteSide side_of(const GivenWords& own) {
  return own.has("connect") ? RemoteSide::connects : RemoteSide::listens;
}

std::string address_to_serve(const GivenWords& own) {
  const std::string word = own.has("connect") ? "connect" : "at";
  if (own.has("connect") && own.has("at")) refuse_to_serve("either --at or --connect");
  const std::string address = own.value(word).value_or("tcp://127.0.0.1:5555");
  if (!is_remote_address(address, side_of(own)))
    refuse_to_serve("--" + word + " must be " + remote_addresses + ", found " + in_quotes(address));
  return address;
}

/// As runs call it whole: made as the model has it, but for what they give.
class CalledEntry final : public CalledSubsystem {
 public:
  CalledEntry(const SubsystemEntry& entry, const SubsystemSettings& settings)
      : hosted_(
            {[&entry] {
               return SubsystemInterface{entry.description, entry.type->texts};
             },
             [&entry, settings](const Recipe& recipe) { return made(entry, settings, recipe); }}) {}

  std::span<const std::byte> answer_to(std::span<const std::byte> call) override {
    return hosted_.answer_to(call).bytes;
  }

 private:
  static std::unique_ptr<Subsystem> made(const SubsystemEntry& entry, SubsystemSettings settings,
                                         const Recipe& recipe) {
    const SubsystemSettings& given = recipe.settings;
    settings.rollback &= given.rollback;
    settings.linearization &= given.linearization;
    settings.state_derivatives &= given.state_derivatives;
    settings.taken_back = given.taken_back;
    settings.open_end = given.open_end;
    settings.recorded = given.recorded;
    auto subsystem = begun(entry, recipe.started(entry.description)).create(settings);
    set_parameters(*subsystem, recipe);
    return subsystem;
  }

  static SubsystemEntry begun(const SubsystemEntry& entry, const SubsystemDescription& starts) {
    SubsystemEntry own = entry;
    const auto has_same = [](const auto& one, const auto& other) {
      return one.start == other.start;
    };
    if (std::ranges::equal(starts.inputs, entry.description.inputs, has_same) &&
        std::ranges::equal(starts.states, entry.description.states, has_same))
      return own;
    if (!entry.type->take_starts)
      throw InputError("has start values that cannot be changed from elsewhere");
    entry.type->take_starts(own, starts);
    return own;
  }

  static void set_parameters(Subsystem& subsystem, const Recipe& recipe) {
    for (std::size_t i = 0; i < recipe.parameters().size(); ++i) {
      const std::size_t which = tunable_parameter(subsystem.description(), recipe.parameters()[i]);
      if (subsystem.set_parameter(which, recipe.parameter_values()[i]) == Outcome::failed)
        throw InputError(subsystem.failure());
    }
  }

  HostedSubsystem hosted_;
};

/// What a run cannot have from another process.
void refuse_unfit(const SubsystemDescription& served, const Location& location) {
  if (!served.stands_for.empty())
    refuse_to_serve(location.text() + ": subsystem '" + served.name + "' stands for " +
                    served.stands_for);
}

/// "{u: 0, load: 0}", in double quotes where a name needs them.
template <class Variables>
std::string starts_of(const Variables& variables) {
  std::vector<std::string> entries;
  for (const auto& variable : variables) {
    const bool plain = variable.name.find_first_of("[]{},.:# ") == std::string::npos;
    entries.push_back((plain ? variable.name : "\"" + variable.name + "\"") + ": 0");
  }
  return "{" + joined(entries, ", ") + "}";
}

std::string offers_in_words(const RemoteOffers& offers) {
  const bool has[] = {offers.state, offers.polynomials, offers.slopes};
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::size(has); ++i)
    if (has[i]) words.push_back(remote_offers[i]);
  return joined(words, ", ");
}

/// Where nobody waits for it, outputs answer to inputs a macro-step later.
std::string note_on_feedthrough(const SubsystemDescription& served) {
  if (served.feedthrough.empty()) return "";
  const Feedthrough& first = served.feedthrough[0];
  return "output '" + served.outputs[first.output].name + "' answers to input '" +
         served.inputs[first.input].name +
         "' at once, and does so from the end of a macro-step on where it is served";
}

void tell_served(const ServedSubsystem& served, const std::string& address, RemoteSide side) {
  const SubsystemDescription& own = served.description();
  const bool listens = side == RemoteSide::listens;
  const std::string begin =
      "  " + own.name + ": {remote: {" + (listens ? "connect" : "listen") + ": \"" + address + "\"";
  std::printf("subsystem '%s' %s %s; in a model:\n", own.name.c_str(),
              listens ? "listens at" : "connects to", address.c_str());
  if (listens) std::printf("%s, whole: true}}\n", begin.c_str());
  const std::string offers = offers_in_words(served.offers());
  if (!own.events)
    std::printf("%s%s}, inputs: %s, outputs: %s}\n", begin.c_str(),
                offers.empty() ? "" : (", offers: [" + offers + "]").c_str(),
                starts_of(own.inputs).c_str(), starts_of(own.outputs).c_str());
  if (const std::string note = note_on_feedthrough(own); !note.empty())
    std::fprintf(stderr, "concord: note: %s\n", note.c_str());
  std::fflush(stdout);
}

int serve_model(ModelCall call) {
  if (ranks_of(PETSC_COMM_WORLD) > 1)
    refuse_to_serve(
        "one process serves; start it without mpirun, and another one for each subsystem");
  const std::string address = address_to_serve(call.own);
  const std::size_t which = served_in(call.own, call.model);
  if (!options::has("cosim_type")) options::set("cosim_type", "jacobi");
  const SimulationPlan plan(PETSC_COMM_WORLD, std::move(call.model));
  const SubsystemEntry& entry = plan.model.subsystems[which];
  SubsystemSettings settings = plan.settings.subsystems[which];
  settings.taken_back = false;
  settings.recorded.clear();
  const double start = plan.settings.start;
  ServedSubsystem served(
      [&] { return entry.create(settings); },
      {layout_of_calls(), [&] { return std::make_unique<CalledEntry>(entry, settings); }},
      {start, start + plan.settings.step, plan.settings.step}, plan.settings.stop);
  refuse_unfit(served.description(), entry.location);
  if (served.description().events && side_of(call.own) == RemoteSide::connects)
    refuse_to_serve("subsystem '" + served.description().name +
                    "' has events, and is served whole alone: let it listen, --at");
  const auto link = make_serving_link(address, side_of(call.own));
  tell_served(served, address, side_of(call.own));
  const StopSignals signals;
  while (StopSignals::received() == 0) {
    const auto question = link->next();
    if (!question) continue;
    link->answer(served.answer_to(*question));
    if (foreign_code_has_ended()) throw SimulationError("its code has ended");
  }
  return 0;
}

const RegisteredCommand serve({
    .name = "serve",
    .place = 64,
    .usage = "MODEL [--subsystem NAME] [--at ADDRESS | --connect ADDRESS] [-options]",
    .summary = "a subsystem, or an FMU, for runs in other processes and on other machines",
    .description =
        "Is a subsystem 'remote:' of runs elsewhere (doc/remote_subsystems.md): an FMU, or one of\n"
        "a model, with its parameters, start values and -subsystem_* options; one run after the\n"
        "other or several at once, until Ctrl-C. What it prints can be put into their models.\n"
        "There is no password: listen at 127.0.0.1, ipc:// or shm:// unless the network is yours.",
    .words = words_of_models(
        {{.name = "subsystem", .value = "NAME", .help = "which (default: the only one)"},
         {.name = "at",
          .value = "ADDRESS",
          .help = "where it listens, for models with connect:\n(default: tcp://127.0.0.1:5555)"},
         {.name = "connect",
          .value = "ADDRESS",
          .help = "in its place: where a model with listen: does"}}),
    .example = "serve vehicle.yaml --subsystem car --at 'tcp://*:5555'",
    .more_help = options_help,
    .run = [](const Arguments& arguments) { return with_model(serve, arguments, serve_model); },
});

}  // namespace
}  // namespace concord
