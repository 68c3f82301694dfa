#include "modelfile/array_connections.hpp"

#include <gtest/gtest.h>

#include "concord/errors.hpp"

namespace concord {
namespace {

SubsystemEntry subsystem(const std::string& name, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs) {
  SubsystemEntry entry;
  entry.description.name = name;
  for (const std::string& input : inputs) {
    entry.description.inputs.own().emplace_back().name = input;
  }
  for (const std::string& output : outputs) {
    entry.description.outputs.own().emplace_back().name = output;
  }
  return entry;
}

class WholeArrays : public testing::Test {
 protected:
  WholeArrays() {
    model_.subsystems.push_back(subsystem("a", {}, {"z", "y[1,1]", "y[1,2]", "y[2,1]", "y[2,2]"}));
    model_.subsystems.push_back(
        subsystem("b", {"u[1]", "u[2]", "u[3]", "u[4]", "w[1]", "w[2]"}, {}));
    for (const char* name : {"cell[1]", "cell[2]"}) {
      model_.subsystems.push_back(subsystem(name, {"u"}, {"x", "y[1]", "y[2]"}));
    }
  }

  std::string connected(const std::string& from, const std::string& to) {
    model_.connections = {{from, to, "m.yaml:7"}};
    try {
      connect_arrays(model_);
    } catch (const InputError& error) {
      return error.what();
    }
    std::string result;
    for (const ConnectionEntry& each : model_.connections) {
      result += (result.empty() ? "" : ", ") + each.from + "->" + each.to;
    }
    return result;
  }

  Model model_;
};

TEST_F(WholeArrays, are_connected_element_by_element) {
  EXPECT_EQ(connected("a.y[:]", "b.u[:]"),
            "a.y[1,1]->b.u[1], a.y[1,2]->b.u[2], a.y[2,1]->b.u[3], a.y[2,2]->b.u[4]");
  EXPECT_EQ(connected("a.y[:,:]", "b.u[:]"), connected("a.y[:]", "b.u[:]"));
  EXPECT_EQ(connected("a.y[:,2]", "b.w[:]"), "a.y[1,2]->b.w[1], a.y[2,2]->b.w[2]");
  EXPECT_EQ(connected("a.y[2,:]", "b.w[:]"), "a.y[2,1]->b.w[1], a.y[2,2]->b.w[2]");
  EXPECT_EQ(connected("a.y[2,1]", "b.w[1]"), "a.y[2,1]->b.w[1]");
  EXPECT_EQ(connected("a.y[1:2]", "b.w[1]"), "a.y[1:2]->b.w[1]");
}

TEST_F(WholeArrays, may_be_repeated_subsystems) {
  EXPECT_EQ(connected("cell[:].x", "b.w[:]"), "cell[1].x->b.w[1], cell[2].x->b.w[2]");
  EXPECT_EQ(connected("a.y[1,:]", "cell[:].u"), "a.y[1,1]->cell[1].u, a.y[1,2]->cell[2].u");
  EXPECT_EQ(connected("cell[2].y[:]", "b.w[:]"), "cell[2].y[1]->b.w[1], cell[2].y[2]->b.w[2]");
  EXPECT_EQ(connected("cell[:].y[:]", "b.u[:]"),
            "cell[1].y[1]->b.u[1], cell[1].y[2]->b.u[2], cell[2].y[1]->b.u[3], "
            "cell[2].y[2]->b.u[4]");
}

TEST_F(WholeArrays, that_do_not_fit_are_refused) {
  EXPECT_EQ(
      connected("a.y[:]", "b.w[:]"),
      "m.yaml:7: 'a.y[:]' has 4 elements, but 'b.w[:]' has 2; whole arrays must have the same "
      "number");
  EXPECT_EQ(connected("a.z[:]", "b.w[:]"),
            "m.yaml:7: 'a.z[:]' stands for no output; known outputs: a.z, "
            "a.y[1,1], a.y[1,2], a.y[2,1], a.y[2,2]");
  EXPECT_EQ(connected("a.y[:,3]", "b.w[:]").find("m.yaml:7: 'a.y[:,3]' stands for no output"), 0u);
  EXPECT_EQ(connected("a.y[:,:,:]", "b.w[:]").find("m.yaml:7: 'a.y[:,:,:]' stands for no"), 0u);
  EXPECT_EQ(connected("cel[:].x", "b.w[:]"),
            "m.yaml:7: there is no subsystem 'cel[:]'; did you mean 'cell[1]'? known subsystems: "
            "a, b, cell[1], cell[2]");
  EXPECT_EQ(connected("a.y[:]", "b.w[1]"),
            "m.yaml:7: 'a.y[:] -> b.w[1]' connects the whole array 'a.y[:]' with one variable, "
            "'b.w[1]'; write [:] on both sides, or an index");
}

}  // namespace
}  // namespace concord
