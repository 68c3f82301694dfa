#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "subsystem/table/table_signals.hpp"

namespace concord {

/// Words of `table:`; the first is meant where none is there.
inline constexpr std::pair<std::string_view, Interpolation> interpolations[] = {
    {"linear", Interpolation::linear},
    {"cubic", Interpolation::cubic},
    {"step", Interpolation::step}};
inline constexpr std::pair<std::string_view, Beyond> rules_beyond[] = {{"hold", Beyond::hold},
                                                                       {"linear", Beyond::linear},
                                                                       {"repeat", Beyond::repeat},
                                                                       {"error", Beyond::error}};

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
