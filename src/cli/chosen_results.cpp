#include "cli/chosen_results.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "cli/dense_curves.hpp"
#include "concord/errors.hpp"
#include "support/name_patterns.hpp"
#include "support/options.hpp"
#include "support/words.hpp"

namespace concord {

template <>
std::span<const WordOf<Statistic>> words_of<Statistic>() {
  static constexpr WordOf<Statistic> words[] = {{"last", Statistic::last},
                                                {"min", Statistic::min},
                                                {"max", Statistic::max},
                                                {"rms", Statistic::rms}};
  return words;
}

namespace {

Statistic statistic_of(const std::string& word, const std::string& item) {
  for (const WordOf<Statistic>& one : words_of<Statistic>())
    if (one.word == word) return one.value;
  throw InputError("--results " + item + ": there is no '" + word +
                   "' of a variable; give last, min, max or rms");
}

double root_mean_square(const std::vector<double>& time, const std::vector<double>& values) {
  if (time.back() <= time.front()) return std::abs(values.back());
  double sum = 0.0;
  for (std::size_t i = 1; i < time.size(); ++i)
    sum += 0.5 * (time[i] - time[i - 1]) * (values[i] * values[i] + values[i - 1] * values[i - 1]);
  return std::sqrt(sum / (time.back() - time.front()));
}

double value_of(Statistic statistic, const std::vector<double>& time,
                const std::vector<double>& values) {
  switch (statistic) {
    case Statistic::min:
      return *std::min_element(values.begin(), values.end());
    case Statistic::max:
      return *std::max_element(values.begin(), values.end());
    case Statistic::rms:
      return root_mean_square(time, values);
    case Statistic::last:
      break;
  }
  return values.back();
}

void add_once(std::vector<ChosenResult>& chosen, ChosenResult result) {
  const bool there = std::any_of(chosen.begin(), chosen.end(), [&](const ChosenResult& other) {
    return other.variable == result.variable && other.statistic == result.statistic;
  });
  if (!there) chosen.push_back(std::move(result));
}

}  // namespace

std::string name_of(const ChosenResult& result) {
  return result.variable + ":" + std::string(word(result.statistic));
}

std::vector<ChosenResult> chosen_results(const std::vector<std::string>& lists,
                                         const Network& network) {
  std::vector<ChosenResult> chosen;
  if (lists.empty())
    for (const std::string& name : network.output_names()) chosen.push_back({name});
  std::vector<std::string> names = network.output_names();
  for (const auto* others : {&network.input_names(), &network.state_names()})
    names.insert(names.end(), others->begin(), others->end());
  for (const std::string& list : lists)
    for (const std::string& item : listed_names(list)) {
      const std::size_t colon = item.find(':');
      const Statistic statistic =
          colon == item.npos ? Statistic::last : statistic_of(item.substr(colon + 1), item);
      const std::string wanted[] = {item.substr(0, colon)};
      for (std::string& name : chosen_names(wanted, names, "--results: the model"))
        add_once(chosen, {std::move(name), statistic});
    }
  return chosen;
}

std::vector<double> result_values(const ResultsReader& results,
                                  const std::vector<ChosenResult>& chosen) {
  constexpr std::size_t least = 20000;  // points: peaks of ten oscillations to 1e-6
  const DenseCurves curves(results, std::nullopt, least);
  const std::vector<double> time(curves.time().begin(), curves.time().end());
  std::vector<double> found;
  for (const ChosenResult& result : chosen) {
    const RecordedVariable* variable = results.find(result.variable);
    if (variable == nullptr)
      throw InputError("--results " + name_of(result) + ": not recorded in '" +
                       results.path().string() + "'; leave out -cosim_record");
    std::vector<double> values = curves.own_values(*variable);
    for (std::size_t i = 1; i < time.size(); ++i)  // what was before an event may not be known
      if (std::isnan(values[i - 1]) && time[i] == time[i - 1]) values[i - 1] = values[i];
    found.push_back(value_of(result.statistic, time, values));
  }
  return found;
}

}  // namespace concord
