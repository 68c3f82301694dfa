#include <cstdio>
#include <string_view>

#include "concord/errors.hpp"
#include "subsystem/fmu/setup.hpp"

namespace concord {

std::string missing_states(const FmuSetup& setup) {
  return setup.model->version == FmiVersion::v1 ? "FMI 1.0 has no call for it"
                                                : "canGetAndSetFMUState";
}

std::string element_name(const FmiVariable& variable, std::size_t element) {
  return !variable.dimensions.empty() ? variable.name + "[" + std::to_string(element + 1) + "]"
                                      : variable.name;
}

void refuse_request(const FmuRequest& request, const std::string& location,
                    const std::string& problem) {
  throw InputError(location + ": subsystem '" + request.subsystem + "' (" + request.path.string() +
                   "): " + problem);
}

namespace {

/// What is told at any time.
std::string without_times(std::string note) {
  constexpr std::string_view time = "t = ";
  for (std::size_t i = note.find(time); i != std::string::npos; i = note.find(time, i + 1))
    note.erase(i + time.size(), note.find(' ', i + time.size()) - i - time.size());
  return note;
}

}  // namespace

/// A second run tells nothing again because it comes to it at another time.
void tell(const FmuSetup& setup, const std::string& note, const char* how) {
  if (!setup.told->insert(without_times(note)).second) return;
  std::fprintf(stderr, "concord: %s: subsystem '%s' (%s): %s\n", how,
               setup.request.subsystem.c_str(), setup.request.path.c_str(), note.c_str());
}

}  // namespace concord
