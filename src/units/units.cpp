#include "units/units.hpp"

#include <udunits2.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "concord/errors.hpp"
#include "support/library_folder.hpp"

namespace concord {

namespace {

struct UnitDeleter {
  void operator()(ut_unit* unit) const { ut_free(unit); }
};
struct ConverterDeleter {
  void operator()(cv_converter* converter) const { cv_free(converter); }
};
struct SystemDeleter {
  void operator()(ut_system* system) const { ut_free_system(system); }
};
using Unit = std::unique_ptr<ut_unit, UnitDeleter>;
using Converter = std::unique_ptr<cv_converter, ConverterDeleter>;
using System = std::unique_ptr<ut_system, SystemDeleter>;

/// Names that modellers write and udunits does not know.
constexpr std::pair<const char*, const char*> more_names[] = {
    {"deg", "arc_degree"}, {"rev", "turn"}, {"kWh", "kW.h"}};

void add_names(ut_system* system) {
  for (const auto& [name, meaning] : more_names) {
    const Unit unit(ut_parse(system, meaning, UT_UTF8));
    if (unit) {
      ut_map_name_to_unit(name, UT_UTF8, unit.get());
    }
  }
}

/// Read on first use: it takes milliseconds.
ut_system* database() {
  static const System system = [] {
    ut_set_error_message_handler(ut_ignore);
    const std::filesystem::path carried = library_folder() / "udunits2.xml";
    std::error_code error;
    System result(ut_read_xml(std::filesystem::exists(carried, error) ? carried.c_str() : nullptr));
    if (!result) {
      throw InputError(
          "the units database of udunits-2 cannot be read; install the package libudunits2-data "
          "or name its file udunits2.xml in the environment variable UDUNITS2_XML_PATH");
    }
    add_names(result.get());
    return result;
  }();
  return system.get();
}

/// Null where it is not known. Each text is read once.
ut_unit* parse(const std::string& text) {
  ut_system* const system = database();
  static std::unordered_map<std::string, Unit> parsed;
  const auto [known, is_new] = parsed.try_emplace(text);
  if (is_new) {
    const char* meaning = text == "-" ? "1" : text.c_str();
    known->second.reset(ut_parse(system, meaning, UT_UTF8));
  }
  return known->second.get();
}

/// udunits also converts s to Hz (reciprocals) and logarithmic units; only a x + b is wanted.
std::optional<UnitConversion> affine(const cv_converter* converter) {
  const double offset = cv_convert_double(converter, 0.0);
  const double large = offset == 0.0 ? 1.0 : 0x1p60;  // the offset must not cost digits
  const double factor = (cv_convert_double(converter, large) - offset) / large;
  const double expected = factor * 3.0 + offset;
  const double error = std::fabs(cv_convert_double(converter, 3.0) - expected);
  if (!std::isfinite(factor) || !(error <= 1e-9 * (std::fabs(3.0 * factor) + std::fabs(offset)))) {
    return std::nullopt;
  }
  return UnitConversion{factor, offset};
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// What a visit of udunits' tree of a unit finds.
struct Exponents {
  BaseUnit unit;
  bool expressible = true;

  void add(const ut_unit* basic, int power) {
    const char* symbol = ut_get_symbol(basic, UT_ASCII);
    const auto found = std::find_if(
        base_unit_names.begin(), base_unit_names.end(),
        [&](const char* name) { return symbol != nullptr && std::string_view(name) == symbol; });
    if (found == base_unit_names.end())
      expressible = false;
    else
      unit.exponents[static_cast<std::size_t>(found - base_unit_names.begin())] += power;
  }
};

ut_status visit_basic(const ut_unit* basic, void* exponents) {
  static_cast<Exponents*>(exponents)->add(basic, 1);
  return UT_SUCCESS;
}
ut_status visit_product(const ut_unit* /*unit*/, int count, const ut_unit* const* basics,
                        const int* powers, void* exponents) {
  for (int i = 0; i < count; ++i) static_cast<Exponents*>(exponents)->add(basics[i], powers[i]);
  return UT_SUCCESS;
}
ut_status visit_galilean(const ut_unit* /*unit*/, double /*scale*/, const ut_unit* underlying,
                         double /*offset*/, void* exponents);
ut_status visit_timestamp(const ut_unit* /*unit*/, const ut_unit* /*time*/, double /*origin*/,
                          void* exponents) {
  static_cast<Exponents*>(exponents)->expressible = false;
  return UT_SUCCESS;
}
ut_status visit_logarithmic(const ut_unit* /*unit*/, double /*base*/, const ut_unit* /*reference*/,
                            void* exponents) {
  static_cast<Exponents*>(exponents)->expressible = false;
  return UT_SUCCESS;
}

const ut_visitor visitor = {visit_basic, visit_product, visit_galilean, visit_timestamp,
                            visit_logarithmic};

ut_status visit_galilean(const ut_unit* /*unit*/, double /*scale*/, const ut_unit* underlying,
                         double /*offset*/, void* exponents) {
  return ut_accept_visitor(underlying, &visitor, exponents);
}

/// "kg.m2.s-2", or "1".
std::string product_text(const BaseUnit& unit) {
  std::string text;
  for (std::size_t i = 0; i < base_unit_names.size(); ++i)
    if (unit.exponents[i] != 0)
      text += (text.empty() ? "" : ".") + std::string(base_unit_names[i]) +
              std::to_string(unit.exponents[i]);
  return text.empty() ? "1" : text;
}

}  // namespace

namespace {

/// Whether "Hz", "kHz", "hertz" ... stands in the text.
bool counts_periods(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end])) != 0) ++end;
    const std::string_view word = std::string_view(text).substr(at, end - at);
    if (word.ends_with("Hz") || word.ends_with("hertz")) return true;
    at = end + 1;
  }
  return false;
}

int angle_exponent(const ut_unit* unit) {
  Exponents found;
  const bool read = ut_accept_visitor(unit, &visitor, &found) == UT_SUCCESS;
  return read ? found.unit.exponents[base_unit_names.size() - 1] : 0;
}

}  // namespace

bool is_known_unit(const std::string& unit) {
  const std::string text(trimmed(unit));
  return text.empty() || parse(text) != nullptr;
}

std::string unit_suggestion(const std::string& unit) {
  for (std::size_t cut = 1; cut < unit.size(); ++cut) {
    const std::string first = unit.substr(0, cut), second = unit.substr(cut);
    const bool letters = std::isalpha(static_cast<unsigned char>(first.back())) != 0 &&
                         std::isalpha(static_cast<unsigned char>(second.front())) != 0;
    if (letters && is_known_unit(first) && is_known_unit(second))
      return "; did you mean '" + first + "." + second + "'?";
  }
  return "";
}

std::variant<UnitConversion, UnitProblem> unit_conversion(const std::string& from,
                                                          const std::string& to) {
  const std::string output_text(trimmed(from));
  const std::string input_text(trimmed(to));
  if (output_text.empty() || input_text.empty() || output_text == input_text) {
    return UnitConversion{};
  }
  ut_unit* const output = parse(output_text);
  if (output == nullptr) {
    return UnitProblem::unknown_from;
  }
  ut_unit* const input = parse(input_text);
  if (input == nullptr) {
    return UnitProblem::unknown_to;
  }
  if (counts_periods(output_text) != counts_periods(input_text) &&
      angle_exponent(output) != angle_exponent(input)) {
    return UnitProblem::periods_and_angles;
  }
  const Converter converter(ut_get_converter(output, input));
  const auto conversion = converter ? affine(converter.get()) : std::nullopt;
  if (!conversion) {
    return UnitProblem::different_dimensions;
  }
  return *conversion;
}

std::optional<BaseUnit> in_base_units(const std::string& unit) {
  const std::string text(trimmed(unit));
  const ut_unit* parsed = text.empty() ? nullptr : parse(text);
  Exponents found;
  if (parsed == nullptr || ut_accept_visitor(parsed, &visitor, &found) != UT_SUCCESS ||
      !found.expressible) {
    return std::nullopt;
  }
  const auto conversion = unit_conversion(text, product_text(found.unit));
  const auto* affine = std::get_if<UnitConversion>(&conversion);
  if (affine == nullptr) {
    return std::nullopt;
  }
  found.unit.factor = affine->factor;
  found.unit.offset = affine->offset;
  return found.unit;
}

std::optional<double> converted(double value, const std::string& from, const std::string& to) {
  const auto conversion = unit_conversion(from, to);
  const auto* found = std::get_if<UnitConversion>(&conversion);
  if (found == nullptr) return std::nullopt;
  return found->factor * value + found->offset;
}

std::string unit_text(const std::string& name, const std::string& base) {
  if (name.empty()) return "";
  const auto conversion = unit_conversion(name, base.empty() ? "1" : base);
  const auto* problem = std::get_if<UnitProblem>(&conversion);
  if (base.empty()) return problem && *problem == UnitProblem::unknown_from ? "" : name;
  if (problem) return base;
  const auto& same = std::get<UnitConversion>(conversion);
  return same.factor == 1.0 && same.offset == 0.0 ? name : base;
}

std::string integral_unit(const std::string& unit) {
  if (trimmed(unit).empty()) {
    return "";
  }
  if (unit == "1" || unit == "-") {
    return "s";
  }
  return (unit.find('/') == std::string::npos ? unit : "(" + unit + ")") + ".s";
}

}  // namespace concord
