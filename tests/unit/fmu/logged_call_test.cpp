#include "subsystem/fmu/binary/logged_call.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace concord {
namespace {

template <class... Parameters>
std::string words(const char* function, bool filled, const Parameters&... arguments) {
  const std::array<CallArgument, sizeof...(Parameters)> all{shown(arguments)...};
  return arguments_in_words(function, all, filled);
}

TEST(LoggedCall, ListsHaveTheirOwnNumberOrThatOfTheirReferences) {
  const unsigned int references[] = {7, 8}, knowns[] = {1, 2, 3};
  const double seed[] = {1, 0, 0.5};
  double result[] = {0.25, -1e300};
  const unsigned int *unknown = references, *known = knowns;
  const double* given = seed;
  double* filled = result;
  const std::size_t two = 2, three = 3;
  EXPECT_EQ(words("fmi2GetDirectionalDerivative", false, unknown, two, known, three, given, filled),
            "vUnknown_ref=[7 8] vKnown_ref=[1 2 3] dvKnown=[1 0 0.5]");
  EXPECT_EQ(words("fmi2GetDirectionalDerivative", true, unknown, two, known, three, given, filled),
            "dvUnknown=[0.25 -1e+300]");
  EXPECT_EQ(words("fmi3SetFloat64", false, unknown, two, given, three),
            "valueReferences=[7 8] values=[1 0 0.5]");
}

TEST(LoggedCall, LongListsAreCut) {
  const std::vector<double> x(20, 2.0);
  const double* states = x.data();
  const std::size_t count = x.size();
  EXPECT_EQ(words("fmi2SetContinuousStates", false, states, count),
            "x=[2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 ... of 20]");
}

TEST(LoggedCall, WhatTheFmuFillsComesBehindTheCall) {
  const double t = 0.5, h = 0.1;
  const bool last = true;
  bool event = true, ends = false, early = false;
  double reached = 0.6;
  bool *e = &event, *s = &ends, *r = &early;
  double* l = &reached;
  EXPECT_EQ(words("fmi3DoStep", false, t, h, last, e, s, r, l),
            "currentCommunicationPoint=0.5 communicationStepSize=0.1 "
            "noSetFMUStatePriorToCurrentPoint=true");
  EXPECT_EQ(words("fmi3DoStep", true, t, h, last, e, s, r, l),
            "eventHandlingNeeded=true terminateSimulation=false earlyReturn=false "
            "lastSuccessfulTime=0.6");
  fmi2::EventInfo info{0, 0, 0, 1, 1, 2.5};
  fmi2::EventInfo* told = &info;
  EXPECT_EQ(words("fmi2NewDiscreteStates", true, told),
            "eventInfo={newDiscreteStatesNeeded=0 terminateSimulation=0 "
            "nominalsOfContinuousStatesChanged=0 valuesOfContinuousStatesChanged=1 "
            "nextEventTimeDefined=1 nextEventTime=2.5}");
}

TEST(LoggedCall, StatesAreNotShownButTheirSize) {
  void* const state = nullptr;
  void* const bytes = nullptr;
  const std::size_t size = 48;
  EXPECT_EQ(words("fmi2SerializeFMUstate", false, state, bytes, size), "size=48");
}

TEST(LoggedCall, TextsStayOnTheirLine) {
  const unsigned int reference = 4;
  const char* const text = "two\nlines, 'quoted'";
  const unsigned int* references = &reference;
  const char* const* texts = &text;
  const std::size_t one = 1;
  EXPECT_EQ(words("fmi2SetString", false, references, one, texts),
            "vr=[4] value=['two lines, 'quoted'']");
}

}  // namespace
}  // namespace concord
