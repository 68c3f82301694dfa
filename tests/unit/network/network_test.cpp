#include "network/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "concord/errors.hpp"

namespace concord {
namespace {

SubsystemEntry subsystem(const std::string& name, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs,
                         std::vector<Feedthrough> feedthrough) {
  SubsystemEntry entry;
  entry.description.name = name;
  entry.location = "model.yaml:1";
  for (const auto& input : inputs) {
    entry.description.inputs.push_back({input, "", 0.0});
  }
  for (const auto& output : outputs) {
    entry.description.outputs.push_back({output, ""});
  }
  entry.description.states.push_back({"x", "", 0.0});
  entry.description.feedthrough = std::move(feedthrough);
  return entry;
}

/// a: y depends on u, z doesn't. b: y on v, w on nothing. c: y on both inputs.
Model three(const std::vector<std::pair<std::string, std::string>>& wires) {
  Model model;
  model.subsystems = {subsystem("a", {"u"}, {"y", "z"}, {{0, 0}}),
                      subsystem("b", {"u", "v"}, {"w", "y"}, {{1, 1}}),
                      subsystem("c", {"p", "q"}, {"y"}, {{0, 0}, {0, 1}})};
  for (const auto& [from, to] : wires) {
    model.connections.push_back({from, to, "model.yaml:9"});
  }
  return model;
}

/// Position of an output's component in the order of execution.
std::size_t place(const Network& network, const std::string& output) {
  const auto& names = network.output_names();
  const auto index =
      static_cast<std::size_t>(std::find(names.begin(), names.end(), output) - names.begin());
  for (std::size_t c = 0; c < network.components().size(); ++c) {
    const auto& outputs = network.components()[c].outputs;
    if (std::find(outputs.begin(), outputs.end(), index) != outputs.end()) {
      return c;
    }
  }
  ADD_FAILURE() << output << " is in no component";
  return 0;
}

TEST(Network, NumbersInModelOrder) {
  const Network network(three({}));
  EXPECT_EQ(network.input_names(), (std::vector<std::string>{"a.u", "b.u", "b.v", "c.p", "c.q"}));
  EXPECT_EQ(network.output_names(), (std::vector<std::string>{"a.y", "a.z", "b.w", "b.y", "c.y"}));
  EXPECT_EQ(network.subsystem_of_input(2), 1U);
  EXPECT_EQ(network.subsystem_of_output(4), 2U);
  EXPECT_EQ(network.inputs_of(1).first, 1U);
  EXPECT_EQ(network.inputs_of(1).last, 3U);
}

TEST(Network, NamesConnectionsByBothEnds) {
  const Network network(three({{"b.w", "c.q"}, {"b.w", "a.u"}}));
  EXPECT_EQ(network.connection(0), "b.w -> a.u");
  EXPECT_EQ(network.connection(1), std::nullopt);
  EXPECT_EQ(network.connection(4), "b.w -> c.q");
}

TEST(Network, FeedthroughOrder) {
  // a.y -> b.v, b.y -> c.p: a.y before b.y before c.y.
  const Network network(three({{"a.y", "b.v"}, {"b.y", "c.p"}, {"a.z", "c.q"}}));
  EXPECT_FALSE(network.has_loops());
  EXPECT_TRUE(network.has_feedthrough());
  EXPECT_LT(place(network, "a.y"), place(network, "b.y"));
  EXPECT_LT(place(network, "b.y"), place(network, "c.y"));
  EXPECT_LT(place(network, "a.z"), place(network, "c.y"));
}

TEST(Network, ACycleOfConnectionsWithoutFeedthroughIsNoLoop) {
  // b.w depends on no input directly.
  const Network network(three({{"b.w", "a.u"}, {"a.y", "b.v"}, {"b.y", "b.u"}}));
  EXPECT_FALSE(network.has_loops());
}

TEST(Network, FeedthroughOfUnconnectedInputsDoesNotCount) {
  EXPECT_FALSE(Network(three({{"a.z", "b.u"}})).has_feedthrough());
}

TEST(Network, DescribesALoopVariableByVariable) {
  const Network network(three({{"a.y", "b.v"}, {"b.y", "c.q"}, {"c.y", "a.u"}}));
  ASSERT_TRUE(network.has_loops());
  for (const auto& component : network.components()) {
    EXPECT_EQ(component.loop, component.outputs.size() == 3);
    if (component.loop) {
      EXPECT_EQ(network.describe_loop(component), "a.y -> b.v -> b.y -> c.q -> c.y -> a.u -> a.y");
    }
  }
}

TEST(Network, AnOutputFedBackToItselfIsALoop) {
  const Network network(three({{"c.y", "c.q"}}));
  const auto& component = network.components()[place(network, "c.y")];
  EXPECT_TRUE(component.loop);
  EXPECT_EQ(network.describe_loop(component), "c.y -> c.q -> c.y");
}

TEST(Network, HeldInputsCutLoopsAndKeepTheirPlaceInTheOrder) {
  Model model = three({{"a.y", "b.v"}, {"b.y", "c.p"}, {"c.y", "a.u"}, {"a.z", "c.q"}});
  EXPECT_TRUE(Network(model).has_loops());
  EXPECT_FALSE(Network(model).has_held());
  model.subsystems[0].description.outputs.own()[0].kind = SignalKind::held;
  const Network cut(model);
  EXPECT_FALSE(cut.has_loops());
  EXPECT_TRUE(cut.has_held());
  EXPECT_TRUE(cut.held(2));  // b.v, which a held output feeds
  EXPECT_TRUE(cut.links()[2]);
  EXPECT_FALSE(cut.coupled_links()[2]);
  EXPECT_FALSE(cut.held(0));
  EXPECT_FALSE(cut.held(1));  // fed by nothing
  EXPECT_LT(place(cut, "b.y"), place(cut, "c.y"));
  EXPECT_LT(place(cut, "c.y"), place(cut, "a.y"));
}

TEST(Network, DescribesAShortestCycle) {
  // a.y <-> c.y directly, and through b.y as well.
  const Network network(three({{"a.y", "b.v"}, {"b.y", "c.q"}, {"a.y", "c.p"}, {"c.y", "a.u"}}));
  const auto& component = network.components()[place(network, "a.y")];
  EXPECT_EQ(component.outputs.size(), 3U);
  EXPECT_EQ(network.describe_loop(component), "a.y -> c.p -> c.y -> a.u -> a.y");
}

TEST(Network, ShowsTheBeginningOfALongCycle) {
  Model model;
  for (std::size_t k = 0; k < 20; ++k) {
    const std::string name = "s" + std::to_string(k), before = "s" + std::to_string((k + 19) % 20);
    model.subsystems.push_back(subsystem(name, {"u"}, {"y"}, {{0, 0}}));
    model.connections.push_back({before + ".y", name + ".u", "model.yaml:9"});
  }
  const Network network(model);
  EXPECT_EQ(network.describe_loop(network.components().front()),
            "s0.y -> s1.u -> s1.y -> s2.u -> s2.y -> s3.u -> ... (20 connections) -> s0.y");
}

void expect_error(const Model& model, const std::vector<std::string>& parts) {
  try {
    const Network network(model);
    FAIL() << "no error";
  } catch (const InputError& error) {
    for (const auto& part : parts) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << part << " is not in: " << error.what();
    }
  }
}

TEST(Network, RefusesWhatIsWrong) {
  expect_error(three({{"a.y", "b.v"}, {"c.y", "b.v"}}), {"model.yaml:9", "b.v", "a.y", "c.y"});
  expect_error(three({{"a.yy", "b.v"}}), {"model.yaml:9", "yy", "'y'"});
  expect_error(three({{"d.y", "b.v"}}), {"model.yaml:9", "d"});
  expect_error(three({{"a.u", "b.v"}}), {"model.yaml:9", "output"});
  expect_error(three({{"a.y", "b.w"}}), {"model.yaml:9", "input"});
  Model hungry = three({});
  hungry.subsystems[2].description.inputs.own()[1].start.reset();
  expect_error(hungry, {"model.yaml:1", "c.q", "start value"});
}

}  // namespace
}  // namespace concord
