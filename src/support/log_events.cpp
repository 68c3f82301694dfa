#include "support/log_events.hpp"

#include <cctype>
#include <string>

namespace concord {

LogEvents::LogEvents() {
  PetscClassId id = 0;
  petsc(PetscClassIdRegister("Concord", &id));
  for (std::size_t phase = 0; phase < n_phases; ++phase) {
    std::string word = phase_words[phase];
    word[0] = static_cast<char>(std::toupper(word[0]));
    petsc(PetscLogEventRegister(("Cosim" + word).c_str(), id, &events_[phase]));
  }
  constexpr const char* stage = "Error estimate";
  petsc(PetscLogStageGetId(stage, &estimate_));
  const bool is_there = estimate_ >= 0;  // of an FMU that has Concord inside, or of who runs that
  if (!is_there) petsc(PetscLogStageRegister(stage, &estimate_));
}

const LogEvents& log_events() {
  static const LogEvents events;
  return events;
}

}  // namespace concord
