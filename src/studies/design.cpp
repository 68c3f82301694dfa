#include "studies/design.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <string_view>

#include "concord/errors.hpp"
#include "files/csv_fields.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

constexpr std::size_t most_runs = 10'000'000;

/// Names that vary together, and what they are in turn.
struct Factor {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;
};

/// "linspace(10, 100, 10)", read.
struct Call {
  std::string function;
  std::vector<double> numbers;
};

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// What commas outside of brackets and quotes separate.
std::vector<std::string> between_commas(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    quoted = quoted != (c == '"');
    if (!quoted)
      depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0 && !quoted)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string& part : parts) part = without_blanks(part);
  return parts;
}

/// Nothing where the text calls none of `functions`.
std::optional<Call> call_in(const std::string& text, const std::string& location,
                            std::initializer_list<const char*> functions) {
  const std::size_t open = text.find('(');
  if (open == text.npos || text.back() != ')') return std::nullopt;
  Call call{std::string(without_blanks(text.substr(0, open))), {}};
  if (std::find(functions.begin(), functions.end(), call.function) == functions.end())
    return std::nullopt;
  for (const std::string& part : between_commas(text.substr(open + 1, text.size() - open - 2))) {
    const auto number = parse_number(part);
    if (!number)
      throw InputError(location + ": " + call.function + " takes numbers, not " + in_quotes(part));
    call.numbers.push_back(*number);
  }
  return call;
}

[[noreturn]] void refuse(const std::string& location, const std::string& problem) {
  throw InputError(location + ": " + problem);
}

/// Numbers of this many parts from `first` to `last`, both exactly.
std::vector<std::string> spaced(double first, double last, std::size_t parts, bool by_factor) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i <= parts; ++i) {
    const double share = parts == 0 ? 0.0 : static_cast<double>(i) / static_cast<double>(parts);
    const double inside =
        by_factor ? first * std::pow(last / first, share) : first + (last - first) * share;
    values.push_back(exact_number(i == 0 ? first : i == parts ? last : inside));
  }
  return values;
}

std::vector<std::string> range_of(const Call& call, const std::string& location) {
  const double first = call.numbers[0], last = call.numbers[1],
               step = call.numbers.size() == 3 ? call.numbers[2]
                      : last < first           ? -1.0
                                               : 1.0;
  constexpr double rounding = 1e-9;
  const double parts = (last - first) / step;
  if (!(parts >= 0.0) || parts > static_cast<double>(most_runs))
    refuse(location, "range(first, last, step) needs a step that leads from " +
                         short_number(first) + " to " + short_number(last) + " in at most " +
                         std::to_string(most_runs) + " values");
  std::vector<std::string> values;
  const auto whole = static_cast<std::size_t>(parts + rounding);
  for (std::size_t i = 0; i <= whole; ++i) {
    const bool end = i == whole && std::abs(parts - static_cast<double>(whole)) < rounding;
    // Twelve digits: 0.30000000000000004 is meant as 0.3.
    values.push_back(end ? exact_number(last)
                         : short_number(first + static_cast<double>(i) * step));
  }
  return values;
}

std::vector<std::string> values_of(const Call& call, const std::string& location) {
  const bool range = call.function == "range";
  if (call.numbers.size() != 3 && !(range && call.numbers.size() == 2))
    refuse(location,
           call.function +
               (range ? " takes two or three numbers: range(first, last), or range"
                        "(first, last, step)"
                      : " takes three numbers: " + call.function + "(first, last, count)"));
  if (range) return range_of(call, location);
  const double first = call.numbers[0], last = call.numbers[1], count = call.numbers[2];
  if (!(count >= 1.0 && count <= static_cast<double>(most_runs)) || count != std::floor(count))
    refuse(location, call.function + " needs a whole number of values from 1 to " +
                         std::to_string(most_runs) + ", not " + short_number(count));
  const bool by_factor = call.function == "logspace";
  if (by_factor && !(first * last > 0.0))
    refuse(location, "logspace needs ends of one sign, neither of them 0; found " +
                         short_number(first) + " and " + short_number(last));
  return spaced(first, last, static_cast<std::size_t>(count) - 1, by_factor);
}

/// "left.m=1,2,5": both sides.
std::pair<std::string, std::string> sides_of(const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string name(without_blanks(word.substr(0, equals)));
  if (equals == word.npos || name.find('.') == name.npos ||
      without_blanks(word.substr(equals + 1)).empty())
    refuse("--set " + word,
           "must read subsystem.name=values, or parameters.name=values for a "
           "parameter of the whole model");
  return {name, std::string(without_blanks(word.substr(equals + 1)))};
}

/// In [0, 1), with 53 bits: what the standard library makes of the same bits differs by machine.
double uniform(std::mt19937_64& chance) { return static_cast<double>(chance() >> 11) * 0x1p-53; }

/// Fisher and Yates.
std::vector<std::size_t> shuffled(std::size_t n, std::mt19937_64& chance) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i > 1; --i)
    std::swap(order[i - 1],
              order[static_cast<std::size_t>(uniform(chance) * static_cast<double>(i))]);
  return order;
}

/// A name's range gets its column.
void add_range(Factor& cube, const std::string& name, const Call& call, const std::string& location,
               std::mt19937_64& chance) {
  const bool by_factor = call.function == "loguniform";
  if (call.numbers.size() != 2 || (by_factor && !(call.numbers[0] * call.numbers[1] > 0.0)))
    refuse(location, call.function + "(smallest, largest) takes two numbers" +
                         (by_factor ? " of one sign, neither of them 0" : ""));
  const double first = call.numbers[0], last = call.numbers[1];
  cube.names.push_back(name);
  const std::vector<std::size_t> parts = shuffled(cube.rows.size(), chance);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double share =
        (static_cast<double>(parts[i]) + uniform(chance)) / static_cast<double>(parts.size());
    cube.rows[i].push_back(exact_number(by_factor ? first * std::pow(last / first, share)
                                                  : first + (last - first) * share));
  }
}

Factor factor_of_file(const std::filesystem::path& path) {
  TextTable table = read_text_table(path);
  for (const std::string& name : table.names)
    if (name.find('.') == name.npos)
      refuse(path.string() + ":1", "found " + in_quotes(name) +
                                       " where the header must have subsystem.name or "
                                       "parameters.name");
  if (table.rows.empty()) refuse(path.string(), "has no row below its header: no run");
  return {std::move(table.names), std::move(table.rows)};
}

std::vector<Factor> factors_of(const DesignWords& words) {
  std::vector<Factor> factors;
  if (words.samples) factors.push_back(factor_of_file(*words.samples));
  Factor cube;
  cube.rows.resize(words.latin.value_or(0));
  std::mt19937_64 chance(words.seed);
  std::vector<Factor> listed;
  for (const std::string& word : words.set) {
    const auto [name, text] = sides_of(word);
    const std::string location = "--set " + word;
    if (const auto call = call_in(text, location, {"uniform", "loguniform"})) {
      if (!words.latin) refuse(location, call->function + " is a range of --latin N; give that");
      add_range(cube, name, *call, location, chance);
      continue;
    }
    Factor& factor = listed.emplace_back(Factor{{name}, {}});
    for (std::string& value : listed_values(text, location))
      factor.rows.push_back({std::move(value)});
  }
  if (words.latin && cube.names.empty())
    throw InputError("--latin needs ranges: --set left.m=uniform(1,5), or loguniform");
  if (!cube.names.empty()) factors.push_back(std::move(cube));
  for (Factor& factor : listed) factors.push_back(std::move(factor));
  return factors;
}

void require_names_once(const Design& design) {
  std::set<std::string> seen;
  for (const std::string& name : design.names)
    if (!seen.insert(name).second)
      throw InputError(in_quotes(name) + " is varied twice; put its values into one --set " + name +
                       "=1,2,5");
}

}  // namespace

std::vector<std::string> listed_values(const std::string& text, const std::string& location) {
  std::vector<std::string> values;
  for (std::string& part : between_commas(text)) {
    if (part.empty()) refuse(location, "a value is missing between two commas");
    const auto call = call_in(part, location, {"range", "linspace", "logspace"});
    if (!call) {
      values.push_back(std::move(part));
      continue;
    }
    for (std::string& value : values_of(*call, location)) values.push_back(std::move(value));
  }
  return values;
}

Design make_design(const DesignWords& words) {
  Design design;
  design.runs.emplace_back();
  for (const Factor& factor : factors_of(words)) {
    design.names.insert(design.names.end(), factor.names.begin(), factor.names.end());
    if (design.runs.size() > most_runs / factor.rows.size())
      throw InputError("the sweep has more than " + std::to_string(most_runs) +
                       " combinations; use fewer values, or --latin N");
    std::vector<std::vector<std::string>> runs;
    for (const auto& run : design.runs)
      for (const auto& row : factor.rows) {
        runs.push_back(run);
        runs.back().insert(runs.back().end(), row.begin(), row.end());
      }
    design.runs = std::move(runs);
  }
  if (design.names.empty())
    throw InputError("nothing is varied: give --set left.m=1,2,5, or --samples design.csv");
  require_names_once(design);
  return design;
}

}  // namespace concord
