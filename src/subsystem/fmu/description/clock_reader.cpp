#include "subsystem/fmu/description/clock_reader.hpp"

#include <cmath>
#include <string_view>
#include <utility>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

constexpr std::pair<std::string_view, ClockInterval> intervals[] = {
    {"constant", ClockInterval::constant},     {"fixed", ClockInterval::fixed},
    {"calculated", ClockInterval::calculated}, {"tunable", ClockInterval::tunable},
    {"changing", ClockInterval::changing},     {"countdown", ClockInterval::countdown},
    {"triggered", ClockInterval::triggered}};

/// One reading of one clock.
class ClockReader {
 public:
  ClockReader(const std::function<std::string(const char*)>& attribute, const std::string& name,
              const std::string& where)
      : attribute_(attribute), name_(name), where_(where) {}

  FmiClock read();

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(where_ + ": the clock " + in_quotes(name_) + " " + problem);
  }
  ClockInterval interval() const;
  std::optional<double> number(const char* attribute, double least, bool may_be_least,
                               bool whole) const;
  std::optional<double> count(const char* attribute, double least) const {
    return number(attribute, least, true, true);
  }
  bool flag(const char* attribute) const {
    const std::string text = attribute_(attribute);
    return text == "true" || text == "1";
  }
  void read_timing(FmiClock& clock) const;

  const std::function<std::string(const char*)>& attribute_;
  const std::string& name_;
  const std::string& where_;
};

ClockInterval ClockReader::interval() const {
  const std::string text = attribute_("intervalVariability");
  for (const auto& [name, value] : intervals)
    if (name == text) return value;
  fail(text.empty() ? "has no intervalVariability, which says when it ticks"
                    : "has the unknown intervalVariability " + in_quotes(text));
}

std::optional<double> ClockReader::number(const char* attribute, double least, bool may_be_least,
                                          bool whole) const {
  const std::string text = attribute_(attribute);
  if (text.empty()) return std::nullopt;
  const auto value = parse_number(text);
  const bool good = value && std::isfinite(*value) &&
                    (may_be_least ? *value >= least : *value > least) &&
                    (!whole || *value == std::floor(*value));
  if (!good)
    fail("has " + std::string(attribute) + " " + in_quotes(text) + ", which must be a " +
         (whole ? "count, " : "number of seconds, ") + (may_be_least ? "at least " : "more than ") +
         short_number(least));
  return value;
}

/// A fraction, where there is one, is exact; the decimal is what is left of it in a double.
void ClockReader::read_timing(FmiClock& clock) const {
  const auto resolution = count("resolution", 1.0);
  const auto counter = count("intervalCounter", 1.0);
  const auto shift_counter = count("shiftCounter", 0.0);
  const auto decimal = number("intervalDecimal", 0.0, false, false);
  const auto shift = number("shiftDecimal", 0.0, true, false);
  if (counter && !resolution) fail("has an intervalCounter without a resolution");
  if (counter) {
    clock.period = ClockTime{*counter, *resolution};
    clock.shift = {shift_counter.value_or(0.0), *resolution};
  } else if (decimal) {
    clock.period = ClockTime{*decimal, 1.0};
    clock.shift = {shift.value_or(0.0), 1.0};
  }
}

FmiClock ClockReader::read() {
  FmiClock clock;
  clock.interval = interval();
  clock.fractions = flag("supportsFraction");
  clock.can_be_deactivated = flag("canBeDeactivated");
  if (const auto priority = count("priority", 0.0))
    clock.priority = static_cast<std::uint32_t>(*priority);
  if (clock.is_periodic()) read_timing(clock);
  if (clock.interval == ClockInterval::constant && !clock.period)
    fail("is constant and has no intervalDecimal, so that nobody knows when it ticks");
  return clock;
}

}  // namespace

FmiClock read_clock(const std::function<std::string(const char*)>& attribute,
                    const std::string& name, const std::string& where) {
  return ClockReader(attribute, name, where).read();
}

const char* name_of(ClockInterval interval) {
  for (const auto& [name, value] : intervals)
    if (value == interval) return name.data();
  return "?";
}

std::string in_words(const FmiClock& clock) {
  std::string text = name_of(clock.interval);
  if (clock.period) {
    text += ", every " + short_number(clock.period->seconds()) + " s";
    if (clock.shift.counter > 0.0)
      text += " from " + short_number(clock.shift.seconds()) + " s behind the start on";
  }
  if (clock.fractions) text += ", in fractions";
  if (clock.priority) text += ", priority " + std::to_string(*clock.priority);
  if (clock.can_be_deactivated) text += ", can be deactivated";
  return text;
}

}  // namespace concord
