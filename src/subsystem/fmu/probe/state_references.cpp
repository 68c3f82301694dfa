#include "subsystem/fmu/probe/state_references.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <map>
#include <string>

#include "files/child_process.hpp"
#include "subsystem/fmu/setup.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

constexpr unsigned longest_question = 60;  ///< seconds

using References = std::vector<FmiReference>;

/// What an FMU prints here it prints in the run, too.
void be_quiet() {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
}

References asked(const FmuSetup& setup) {
  const std::size_t count = setup.interface().unnamed_states;
  const ChildReport report = in_child_process(longest_question, [&](const auto& tell) {
    be_quiet();
    const ModelDescription& model = *setup.model;
    const double start = model.start.value_or(0.0);
    FmuUse use = setup.use;
    const auto instance = make_instance(setup, use);
    EventOutcome outcome;
    References references(count);
    if (begin_initialization(setup, *instance, start, model.stop.value_or(start + 1.0),
                             model.tolerance.value_or(0.0)) &&
        end_initialization(setup, *instance, outcome) && instance->state_references(references))
      for (const FmiReference reference : references) tell(std::to_string(reference));
  });
  References found;
  for (const std::string& record : report.records)
    if (const auto number = parse_number(record))
      found.push_back(static_cast<FmiReference>(*number));
  return found.size() == count ? found : References();
}

}  // namespace

std::vector<std::uint32_t> state_references(const FmuSetup& setup) {
  static std::map<std::filesystem::path, References> known;
  const FmiInterface& interface = setup.interface();
  if (interface.unnamed_states == 0 || binary_in(setup.folder, setup.model->version,
                                                 interface.model_identifier, setup.request.options)
                                           .path.empty())
    return {};
  const auto place = known.find(setup.folder);
  return place != known.end() ? place->second
                              : known.emplace(setup.folder, asked(setup)).first->second;
}

}  // namespace concord
