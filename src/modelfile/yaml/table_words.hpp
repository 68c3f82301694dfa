#pragma once

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "expression/map_function.hpp"
#include "modelfile/yaml/node_reader.hpp"
#include "subsystem/table/table_signals.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

/// Words of `table:` and `maps:`; the first is meant where none is there.
inline constexpr std::pair<std::string_view, Interpolation> interpolations[] = {
    {"linear", Interpolation::linear},
    {"cubic", Interpolation::cubic},
    {"step", Interpolation::step}};
inline constexpr std::pair<std::string_view, Beyond> rules_beyond[] = {{"hold", Beyond::hold},
                                                                       {"linear", Beyond::linear},
                                                                       {"repeat", Beyond::repeat},
                                                                       {"error", Beyond::error}};

inline constexpr std::pair<std::string_view, MapData::Outside> rules_outside[] = {
    {"hold", MapData::Outside::hold},
    {"linear", MapData::Outside::linear},
    {"error", MapData::Outside::error}};

/// What the field of that key chooses among these.
template <class Choice, std::size_t N>
Choice choice(const std::vector<Field>& fields, const char* key,
              const std::pair<std::string_view, Choice> (&choices)[N]) {
  const auto node = find_field(fields, key);
  if (!node) {
    return choices[0].second;
  }
  std::vector<std::string> words;
  for (const auto& [word, value] : choices) {
    if (node->text() == word) {
      return value;
    }
    words.emplace_back(word);
  }
  node->fail("must be one of " + joined(words) + ", not " + in_quotes(node->text()));
}

template <class Choice, std::size_t N>
constexpr std::array<std::string_view, N> words_of(
    const std::pair<std::string_view, Choice> (&choices)[N]) {
  std::array<std::string_view, N> words;
  for (std::size_t i = 0; i < N; ++i) {
    words[i] = choices[i].first;
  }
  return words;
}

}  // namespace concord
