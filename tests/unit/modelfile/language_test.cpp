#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "concord/errors.hpp"
#include "modelfile/model_file.hpp"
#include "modelfile/parameters_file.hpp"
#include "subsystem/equations/equations_model.hpp"

namespace concord {
namespace {

/// Parameters of the model, expressions for numbers, variables, templates, changes.
class Language : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() /
            ("concord_language_" + std::to_string(getpid()) + ".yaml");
  }
  void TearDown() override { std::filesystem::remove(path_); }

  Model read(const std::string& text, const std::vector<std::string>& changes = {}) const {
    std::ofstream(path_, std::ios::binary) << text;
    return read_model_file(path_, read_changes(changes));
  }

  std::string error(const std::string& text, const std::vector<std::string>& changes = {}) const {
    try {
      read(text, changes);
    } catch (const InputError& error) {
      const std::string message = error.what();
      const std::string prefix = path_.string();
      return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
    }
    return "no error";
  }

  static double parameter(const Model& model, const std::string& name, std::size_t subsystem = 0) {
    for (const auto& entry : model.subsystems[subsystem].equations->parameters) {
      if (entry.name == name) {
        return *entry.value;
      }
    }
    return std::nan("");
  }
  static double state(const Model& model, std::size_t subsystem = 0) {
    return model.subsystems[subsystem].description.states[0].start;
  }

  std::filesystem::path path_;
};

const std::string pendulum = R"yaml(experiment: {stop: 2*T}
parameters: {omega: sqrt(g/l), g: 9.81, l: 0.5, T: 2*pi/omega}
subsystems:
  a:
    equations:
      parameters: {d: 2*zeta*omega, zeta: 0.1}
      states: {x: "min(g, 3) + l", v: 0}
      variables: {pull: weight + d*v, weight: g/l*sin(x)}
      derivatives: {x: v, v: -pull}
      outputs: {x: x, pull: pull}
)yaml";

TEST_F(Language, numbers_may_be_expressions_in_any_order) {
  const Model model = read(pendulum);
  const double omega = std::sqrt(9.81 / 0.5);
  EXPECT_DOUBLE_EQ(model.stop, 4.0 * std::numbers::pi / omega);
  EXPECT_DOUBLE_EQ(parameter(model, "d"), 0.2 * omega);
  EXPECT_DOUBLE_EQ(state(model), 3.5);
}

TEST_F(Language, model_parameters_that_expressions_name_belong_to_the_subsystem) {
  const Model model = read(pendulum);
  EXPECT_EQ(parameter(model, "g"), 9.81);
  EXPECT_TRUE(std::isnan(parameter(model, "T")));
}

TEST_F(Language, variables_are_what_they_stand_for) {
  const Model model = read(pendulum);
  EquationsModel equations(*model.subsystems[0].equations);
  const double x[] = {0.3, 0.7};
  double dxdt[2], y[2];
  equations.derivatives(0.0, x, {}, dxdt);
  equations.outputs(0.0, x, {}, y);
  const double pull = 9.81 / 0.5 * std::sin(0.3) + parameter(model, "d") * 0.7;
  EXPECT_DOUBLE_EQ(dxdt[1], -pull);
  EXPECT_DOUBLE_EQ(y[1], pull);
}

TEST_F(Language, the_time_has_two_names) {
  const Model model = read(
      "experiment: {stop: 1}\nsubsystems:\n  a:\n    equations:\n"
      "      variables: {v: 2*time}\n      outputs: {y: v + t, time: noEvent(time)}\n");
  EquationsModel equations(*model.subsystems[0].equations);
  double y[2];
  equations.outputs(1.5, {}, {}, y);
  EXPECT_EQ(y[0], 4.5);
  EXPECT_EQ(y[1], 1.5);
  EXPECT_EQ(error("experiment: {stop: 1}\nparameters: {time: 1}\n"),
            ":2: parameter 'time' clashes with what expressions call so; choose another name");
}

TEST_F(Language, inputs_behind_variables_are_direct_feedthrough) {
  const Model model = read(
      "experiment: {stop: 1}\nsubsystems:\n  a:\n    equations:\n      inputs: {u: 0, w: 0}\n"
      "      variables: {b: 2*c, c: u + t}\n      outputs: {y: b, z: w}\n");
  const auto& pairs = model.subsystems[0].description.feedthrough;
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].output, 0u);
  EXPECT_EQ(pairs[0].input, 0u);
  EXPECT_EQ(pairs[1].input, 1u);
}

TEST_F(Language, loops_and_unknown_names_are_errors_with_their_line) {
  const std::string head = "experiment: {stop: 1}\nsubsystems:\n  a:\n    equations:\n";
  EXPECT_EQ(error(head + "      variables: {p: q + 1, q: 2*p}\n      outputs: {y: p}\n"),
            ":5: subsystem 'a': the variables p -> q -> p use each other in a loop; make one of "
            "them a state, or solve for it");
  EXPECT_EQ(error(head + "      parameters: {p: q + 1, q: 2*p}\n      outputs: {y: p}\n"),
            ":5: parameter 'p' of subsystem 'a' needs itself, by way of p, q; give one of these a "
            "number");
  EXPECT_NE(
      error(head + "      parameters: {p: 2*qq}\n      outputs: {y: p}\n")
          .find(":5: parameter 'p' of subsystem 'a' must be a finite number or an expression of "
                "known names: unknown name 'qq'"),
      std::string::npos);
  EXPECT_NE(error(head + "      variables: {p: 2*qq}\n      outputs: {y: p}\n")
                .find(":5: subsystem 'a', variable 'p': unknown name 'qq'"),
            std::string::npos);
  EXPECT_NE(error(head + "      states: {p: 1}\n      variables: {p: 2}\n      derivatives: "
                         "{p: 1}\n")
                .find("variable 'p' clashes with state of that name"),
            std::string::npos);
  EXPECT_NE(error(head + "      parameters: {p: 1/0}\n      outputs: {y: p}\n")
                .find("must be a finite number; '1/0' is inf"),
            std::string::npos);
}

TEST_F(Language, own_names_hide_those_of_the_model) {
  const Model model = read(
      "experiment: {stop: 1}\nparameters: {k: 1}\nsubsystems:\n  a:\n    equations:\n"
      "      parameters: {k: 2, m: 3*k}\n      outputs: {y: k}\n");
  EXPECT_EQ(parameter(model, "k"), 2.0);
  EXPECT_EQ(parameter(model, "m"), 6.0);
}

const std::string cells = R"yaml(experiment: {stop: 1}
parameters: {n: 3}
templates:
  cell:
    equations:
      parameters: {k: 10}
      inputs: {left: 0}
      states: {x: 0}
      derivatives: {x: k*(left - x)}
      outputs: {x: x}
    start: {x: 5}
subsystems:
  source: {template: cell, parameters: {k: 0}, start: {x: 1}}
  cell: {template: cell, repeat: {i: [1, n]}, parameters: {k: 10 + 0.01*i}}
connections:
  - source.x -> cell[1].left
  - {connect: "cell[i].x -> cell[i+1].left", repeat: {i: [1, n - 1]}}
)yaml";

TEST_F(Language, templates_are_repeated_with_their_index) {
  const Model model = read(cells);
  ASSERT_EQ(model.subsystems.size(), 4u);
  EXPECT_EQ(model.subsystems[3].description.name, "cell[3]");
  EXPECT_EQ(parameter(model, "k", 0), 0.0);
  EXPECT_DOUBLE_EQ(parameter(model, "k", 3), 10.03);
  EXPECT_EQ(state(model, 0), 1.0);
  EXPECT_EQ(state(model, 1), 5.0);
  ASSERT_EQ(model.connections.size(), 3u);
  EXPECT_EQ(model.connections[2].from, "cell[2].x");
  EXPECT_EQ(model.connections[2].to, "cell[3].left");
}

/// Of a parameter that varies, one that follows from it, and a start that follows from both.
TEST_F(Language, rounds_that_differ_in_numbers_alone_share_their_equations) {
  const Model model = read(
      "experiment: {stop: 1}\nsubsystems:\n  a:\n    repeat: {i: [1, 4]}\n"
      "    effort: 2*i\n    equations:\n      parameters: {q: 3*k, k: 1, r: 7}\n"
      "      states: {x: q + i/10, v: 2}\n      derivatives: {x: -k*x, v: -r*v}\n"
      "      outputs: {x: x}\n    parameters: {k: 10 + i}\n");
  ASSERT_EQ(model.subsystems.size(), 4u);
  for (std::size_t n = 0; n < 4; ++n) {
    const double i = static_cast<double>(n) + 1.0;
    EXPECT_EQ(parameter(model, "k", n), 10.0 + i);
    EXPECT_EQ(parameter(model, "q", n), 3.0 * (10.0 + i));
    EXPECT_EQ(state(model, n), 3.0 * (10.0 + i) + i / 10.0);
    EXPECT_EQ(model.subsystems[n].effort, 2.0 * i);
    EXPECT_EQ(model.subsystems[n].equations->subsystem, model.subsystems[n].description.name);
    EXPECT_TRUE(model.subsystems[n].equations->derivatives.shares_with(
        model.subsystems[0].equations->derivatives));
  }
}

TEST_F(Language, rounds_whose_equations_name_the_index_are_read_themselves) {
  const Model model = read(
      "experiment: {stop: 1}\nsubsystems:\n  a:\n    repeat: {i: [1, 3]}\n"
      "    equations:\n      states: {\"x[i]\": 1}\n"
      "      derivatives: {\"x[1:i]\": -i*x}\n      outputs: {y: \"x[i]\"}\n");
  ASSERT_EQ(model.subsystems.size(), 3u);
  for (std::size_t n = 0; n < 3; ++n) {
    EXPECT_EQ(model.subsystems[n].description.states.size(), n + 1);
    EquationsModel equations(*model.subsystems[n].equations);
    const std::vector<double> x(n + 1, 1.0);
    std::vector<double> dxdt(n + 1);
    equations.derivatives(0.0, x, {}, dxdt);
    EXPECT_EQ(dxdt, std::vector<double>(n + 1, -static_cast<double>(n) - 1.0));
  }
}

TEST_F(Language, a_number_of_a_later_round_that_is_none_is_refused_by_name) {
  EXPECT_NE(error("experiment: {stop: 1}\nsubsystems:\n  a:\n    repeat: {i: [1, 3]}\n"
                  "    equations:\n      states: {x: 1/(i - 3)}\n"
                  "      derivatives: {x: -x}\n")
                .find("'a[3]'"),
            std::string::npos);
}

TEST_F(Language, changes_come_in_the_place_of_values) {
  const Model model = read(cells, {"parameters.n=2", "cell[2].k=7", "source.x=n/4"});
  ASSERT_EQ(model.subsystems.size(), 3u);
  EXPECT_DOUBLE_EQ(parameter(model, "k", 1), 10.01);
  EXPECT_EQ(parameter(model, "k", 2), 7.0);
  EXPECT_EQ(state(model, 0), 0.5);
}

TEST_F(Language, changes_reach_what_depends_on_them) {
  const Model model = read(pendulum, {"a.zeta=1", "parameters.l=9.81", "a.zeta=0.5"});
  EXPECT_DOUBLE_EQ(parameter(model, "d"), 1.0);
  EXPECT_DOUBLE_EQ(state(model), 3.0 + 9.81);
}

TEST_F(Language, wrong_changes_name_themselves) {
  EXPECT_EQ(error(cells, {"cel.k=1"}).find("--set cel.k=1: there is no subsystem 'cel'; "), 0u);
  EXPECT_EQ(error(cells, {"source.kk=1"})
                .find("--set source.kk=1: subsystem 'source' has no parameter, input or state "
                      "'kk'; known names: k, x, left"),
            0u)
      << error(cells, {"source.kk=1"});
  EXPECT_EQ(error(cells, {"parameters.m=1"}).find("--set parameters.m=1: the model has no"), 0u);
  for (const char* text : {"k=1", "cell[1].k", "cell[1].=2", ".k=2", "source.k="}) {
    EXPECT_NE(error(cells, {text}).find("must read subsystem.name=value"), std::string::npos)
        << text;
  }
}

TEST_F(Language, patterns_stand_for_what_they_match) {
  const Model model = read(cells, {"cell[2].k=1", "c*[*].k=3", "cell[3].k=4", "*.x=2"});
  EXPECT_EQ(parameter(model, "k", 0), 0.0);
  EXPECT_EQ(parameter(model, "k", 1), 3.0);
  EXPECT_EQ(parameter(model, "k", 2), 3.0);
  EXPECT_EQ(parameter(model, "k", 3), 4.0);
  EXPECT_EQ(state(model, 0), 2.0);
  EXPECT_EQ(error(cells, {"cell[*].kk=1"}),
            "--set cell[*].kk=1: the pattern 'cell[*].kk' matches nothing that can be set; the "
            "nearest names are cell[1].k, cell[2].k, cell[3].k");
  EXPECT_NE(error(cells, {"cel[*].k=1"}).find("did you mean 'cell[1]'?"), std::string::npos);
  EXPECT_EQ(error(cells, {"parameters.m*=1"}),
            "--set parameters.m*=1: the pattern 'parameters.m*' matches nothing that can be set; "
            "the nearest names are parameters.n");
}

struct ParametersFile {
  const char *ending, *text, *told;
};

TEST_F(Language, files_of_parameters_have_units_and_arrays) {
  const auto file = std::filesystem::path(path_).replace_extension("ssv");
  std::ofstream(file) << "<ParameterSet>\n<Parameters>\n<Parameter name='a.s'>"
                         "<Real value='2' unit='km'/></Parameter>\n</Parameters></ParameterSet>";
  const std::string text =
      "experiment: {stop: 1}\nsubsystems:\n  a:\n    equations: {states: {s: 1}, derivatives: {s: "
      "0}, units: {s: ";
  std::ofstream(path_) << text + "m}}\n";
  EXPECT_EQ(state(read_model_file(path_, read_parameters_file(file))), 2000.0);
  std::ofstream(path_) << text + "kg}}\n";
  try {
    read_model_file(path_, read_parameters_file(file));
    ADD_FAILURE();
  } catch (const InputError& wrong) {
    EXPECT_EQ(std::string(wrong.what()),
              file.string() +
                  ":3: 's' is given in 'km', but the model has it in 'kg', and there is "
                  "no way from one to the other");
  }
  std::filesystem::remove(file);
}

TEST_F(Language, wrong_files_of_parameters_are_told_with_their_line) {
  const ParametersFile files[] = {
      {"yaml", "cell[1]:\n  kk: 2\n", ":2: subsystem 'cell[1]' has no parameter"},
      {"yaml", "\nk: 2\n", ":2: must read subsystem.name=value"},
      {"yaml", "source.x: 1\nsource: {x: 2}\n", ":2: value 'x' is there twice, as 'source.x'"},
      {"yaml", "source.x: [1, 2]\n", ":1: 'x' of subsystem 'source' must be a finite number"},
      {"yaml", "a: {b", ":1: this is not valid YAML"},
      {"txt", "source.x: red\n", ":1: 'x' of subsystem 'source' must be a finite number"},
      {"ssv",
       "<ParameterSet>\n<Parameters>\n<Parameter name='source.x'/></Parameters></ParameterSet>",
       ":3: parameter 'source.x' has no value"},
      {"ssv", "<A>\n<B></A>", " is not well-formed XML: Start-end tags mismatch in line 2"},
      {"ssv", "\n<A/>", ":2: found <A> where a <ParameterSet> must be"},
      {"csv", "source.x,1\nsource.y,2\n", ":2: subsystem 'source' has no parameter"},
      {"csv", "cel[*].k,1\n", ":1: the pattern 'cel[*].k' matches nothing that can be set"}};
  std::ofstream(path_) << cells;
  for (const auto& [ending, text, told] : files) {
    const auto file =
        std::filesystem::path(path_).replace_extension(std::string("values.") + ending);
    std::ofstream(file) << text;
    try {
      read_model_file(path_, read_parameters_file(file));
      ADD_FAILURE() << text;
    } catch (const InputError& wrong) {
      EXPECT_EQ(std::string(wrong.what()).find(file.string() + told), 0u) << wrong.what();
    }
    std::filesystem::remove(file);
  }
}

TEST_F(Language, wrong_repetitions_are_errors) {
  const auto with = [&](const std::string& before, const std::string& after) {
    std::string text = cells;
    return error(text.replace(text.find(before), before.size(), after));
  };
  EXPECT_EQ(with("[1, n]", "[1, 2.5]"), ":14: end of the range must be a whole number, not 2.5");
  EXPECT_EQ(with("[1, n]", "[n, 1]"), ":14: index 'i' must not end before it begins");
  EXPECT_EQ(with("{i: [1, n]}", "{time: [1, 2]}"),
            ":14: index 'time' clashes with what expressions call so; choose another name");
  EXPECT_NE(with("cell[i+1]", "cell[i/2]").find(":17: the index 'i/2' is 0.5"), std::string::npos);
  EXPECT_NE(with("template: cell, repeat", "template: cel, repeat").find("did you mean 'cell'?"),
            std::string::npos);
}

}  // namespace
}  // namespace concord
