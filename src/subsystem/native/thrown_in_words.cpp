#include "subsystem/native/thrown_in_words.hpp"

#include <cmath>
#include <string>

#include "support/exception_words.hpp"
#include "support/wording.hpp"

namespace concord {

void throw_in_words(const ForeignPlace& place, const char* function) {
  const bool started = !std::isnan(place.time);
  const std::string time = started ? " at t = " + short_number(place.time) + " s" : "";
  throw SimulationError(function + time + ": " + in_words(std::current_exception()));
}

}  // namespace concord
