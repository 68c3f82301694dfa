#include <gtest/gtest.h>

#include <set>

#include "coupling/registry/couplings.hpp"

// What the tables of solves, schedules and presets promise.

namespace concord {
namespace registry_test {

template <class T>
void expect_different_words(std::span<const T> entries) {
  std::set<std::string_view> words;
  for (const T& entry : entries) {
    EXPECT_TRUE(words.insert(entry.word).second) << entry.word;
  }
}

/// Each word stands for the entry that carries it.
template <class T>
void expect_words_of_their_own() {
  for (const auto& [word_of_it, value] : words_of<T>()) {
    EXPECT_EQ(word(value), word_of_it);
  }
}

TEST(CouplingRegistry, HasEachWordOnce) {
  expect_different_words(all_solves());
  expect_different_words(all_schedules());
  std::set<std::string> types;
  for (const Method& preset : method_presets()) {
    EXPECT_TRUE(types.insert(preset.type).second) << preset.type;
  }
}

TEST(CouplingRegistry, WordsStandForTheirEntries) {
  expect_words_of_their_own<Solve>();
  expect_words_of_their_own<Schedule>();
  expect_words_of_their_own<Method>();
  expect_words_of_their_own<Predictor>();
  expect_words_of_their_own<Balance>();
  expect_words_of_their_own<Constraints>();
}

TEST(CouplingRegistry, MakesWhatItLists) {
  for (const Solve& solve : all_solves()) {
    EXPECT_NE(solve.create, nullptr) << solve.word;
  }
  for (const Schedule& schedule : all_schedules()) {
    EXPECT_NE(schedule.groups, nullptr) << schedule.word;
  }
}

TEST(CouplingRegistry, PresetsDoNotContradictThemselves) {
  for (const Method& preset : method_presets()) {
    EXPECT_TRUE(contradictions(preset).empty()) << preset.type;
  }
}

/// What no preset or combination could ask for would be dead.
TEST(CouplingRegistry, EveryHoldGoesWithASolve) {
  for (const Hold& hold : all_holds()) {
    bool goes = false;
    for (const Solve& solve : all_solves()) {
      Method method;
      method.hold = hold;
      method.solve = solve;
      method.hold_order = hold.usual_order();
      goes = goes || (solve.by_option && contradictions(method).empty());
    }
    EXPECT_TRUE(goes) << hold.word;
  }
}

TEST(CouplingRegistry, RefusalsNameTheirSolve) {
  for (const Solve& solve : all_solves()) {
    for (const char* text : {solve.refuses_hold, solve.refuses_schedule, solve.refuses_estimate}) {
      if (text != nullptr) {
        EXPECT_NE(std::string_view(text).find(solve.word), std::string_view::npos) << text;
      }
    }
  }
}

}  // namespace registry_test
}  // namespace concord
