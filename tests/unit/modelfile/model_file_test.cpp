#include "modelfile/model_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "concord/errors.hpp"

namespace concord {
namespace {

/// Model files in a folder of their own, removed with it.
class ModelFile : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("concord_modelfile_" + std::string(test->name()) + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& text) const {
    const auto path = folder_ / "m.yaml";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  Model read(const std::string& text) const { return read_model_file(write(text)); }

  /// The error's text, with the folder removed from the front.
  std::string error(const std::string& text) const {
    try {
      read(text);
    } catch (const InputError& error) {
      const std::string message = error.what();
      const std::string prefix = folder_.string() + "/";
      return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
    }
    return "no error";
  }

  /// The error of a model whose only subsystem has these lines (in flow style).
  std::string subsystem_error(const std::string& subsystem) const {
    return error("experiment: {stop: 1}\nsubsystems:\n  a: " + subsystem + "\n");
  }

  std::filesystem::path folder_;
};

const std::string two_masses = R"yaml(name: two-mass oscillator
experiment: {start: 0.5, stop: 2.0}        # seconds
subsystems:
  left:
    equations:
      parameters: {m: 5, c: 1e4, d: 10}
      inputs:  {f: 20000, load: }
      states:  {x: 1, v: 0}
      derivatives: {x: v, v: (f + load - c*x - d*v)/m}
      outputs: {x: x, v: v, p: f*v}
      units: {x: m, v: m/s, f: N}
  right:
    equations:
      inputs: {x: 0}
      states: {z: .5}
      derivatives: {z: -z}
      outputs:
        f: "max(x, z)"
connections:
  - right.f -> left.f
  - left.x->right.x
constraints:
  - unknown: lambda
    start: 3
    equation: left.x - right.f
    feeds: {left.load: -1, right.x: 0.5}
)yaml";

TEST_F(ModelFile, is_read_as_the_contract_says) {
  const Model model = read(two_masses);
  EXPECT_EQ(model.name, "two-mass oscillator");
  EXPECT_EQ(model.start, 0.5);
  EXPECT_EQ(model.stop, 2.0);
  EXPECT_EQ(model.stop_location, model.source + ":2");
  ASSERT_EQ(model.subsystems.size(), 3u);
  const SubsystemDescription& left = model.subsystems[0].description;
  EXPECT_EQ(model.subsystems[0].location, model.source + ":4");
  EXPECT_EQ(left.name, "left");
  EXPECT_EQ(left.kind, "equations");
  ASSERT_EQ(left.inputs.size(), 2u);
  EXPECT_EQ(left.inputs[0].start, 20000.0);
  EXPECT_EQ(left.inputs[0].unit, "N");
  EXPECT_FALSE(left.inputs[1].start.has_value());
  ASSERT_EQ(left.states.size(), 2u);
  EXPECT_EQ(left.states[0].start, 1.0);
  EXPECT_EQ(left.states[1].unit, "m/s");
  ASSERT_EQ(left.outputs.size(), 3u);
  ASSERT_EQ(left.feedthrough.size(), 1u);
  EXPECT_EQ(left.feedthrough[0].output, 2u);
  EXPECT_EQ(model.subsystems[1].description.states[0].start, 0.5);
  EXPECT_TRUE(model.subsystems[0].type->create);
}

TEST_F(ModelFile, connects_a_constraint_as_a_subsystem_of_its_own) {
  const Model model = read(two_masses);
  const SubsystemDescription& lambda = model.subsystems[2].description;
  EXPECT_EQ(lambda.name, "lambda");
  EXPECT_EQ(lambda.kind, "constraint");
  // right.f answers to right.x, which lambda feeds.
  EXPECT_EQ(lambda.constraint, ConstraintKind::direct);
  ASSERT_EQ(lambda.inputs.size(), 3u);
  EXPECT_EQ(lambda.inputs[0].start, 3.0);
  EXPECT_EQ(lambda.inputs[1].name, "left.x");
  EXPECT_EQ(lambda.inputs[2].name, "right.f");
  ASSERT_EQ(model.connections.size(), 7u);
  EXPECT_EQ(model.connections[2].to, "lambda.left.x");
  EXPECT_EQ(model.connections[4].from, "lambda.corrected");
  EXPECT_EQ(model.connections[4].to, "lambda.guess");
  EXPECT_EQ(model.connections[5].from, "lambda.value");
  EXPECT_EQ(model.connections[5].factor, -1.0);
}

TEST_F(ModelFile, gives_connections_and_constraints_with_their_lines) {
  const Model model = read(two_masses);
  ASSERT_EQ(model.connections.size(), 7u);
  EXPECT_EQ(model.connections[0].from, "right.f");
  EXPECT_EQ(model.connections[0].to, "left.f");
  EXPECT_EQ(model.connections[0].location, model.source + ":20");
  EXPECT_EQ(model.connections[1].from, "left.x");
  EXPECT_EQ(model.connections[1].to, "right.x");
  ASSERT_EQ(model.constraints.size(), 1u);
  const ConstraintEntry& constraint = model.constraints[0];
  EXPECT_EQ(constraint.unknown, "lambda");
  EXPECT_EQ(constraint.start, 3.0);
  EXPECT_EQ(constraint.equation, "left.x - right.f");
  EXPECT_EQ(constraint.location, model.source + ":23");
  ASSERT_EQ(constraint.feeds.size(), 2u);
  EXPECT_EQ(constraint.feeds[0].input, "left.load");
  EXPECT_EQ(constraint.feeds[0].factor, -1.0);
  EXPECT_EQ(constraint.feeds[1].factor, 0.5);
  EXPECT_EQ(constraint.feeds[1].location, model.source + ":26");
}

TEST_F(ModelFile, may_have_windows_line_ends_or_a_byte_order_mark) {
  std::string windows;
  for (const char c : two_masses) {
    windows += c == '\n' ? "\r\n" : std::string(1, c);
  }
  EXPECT_EQ(read(windows).connections.size(), read(two_masses).connections.size());
  EXPECT_EQ(read(windows).name, "two-mass oscillator");
  EXPECT_EQ(read("\xef\xbb\xbf" + two_masses).subsystems.size(),
            read(two_masses).subsystems.size());
}

TEST_F(ModelFile, defaults_name_and_start) {
  const Model model = read("experiment: {stop: 3}\nsubsystems: {a: {equations: }}\n");
  EXPECT_EQ(model.name, "m");
  EXPECT_EQ(model.start, 0.0);
  EXPECT_EQ(model.subsystems.size(), 1u);
}

TEST_F(ModelFile, accepts_numbers_in_all_yaml_spellings) {
  const Model model = read(
      "experiment: {stop: 1}\nsubsystems:\n  a:\n    equations:\n"
      "      inputs: {a: 1e4, b: .5, c: +2., d: -1.5E-3, e: 0x10, f: 7, g: 0o17}\n");
  const double expected[] = {1e4, 0.5, 2.0, -1.5e-3, 16.0, 7.0, 15.0};
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(model.subsystems[0].description.inputs[i].start, expected[i]) << i;
  }
}

TEST_F(ModelFile, rejects_what_is_not_a_finite_number) {
  for (const std::string text : {"abc", "1_000", ".nan", ".inf", "-.inf", "nan", "inf", "1e400",
                                 "'3'", "[1]", "{a: 1}", "true", "1 2", "+-1", "1,5", "--1"}) {
    const std::string message = subsystem_error("{equations: {parameters: {m: " + text + "}}}");
    EXPECT_TRUE(message.starts_with("m.yaml:3: ")) << text << ": " << message;
  }
  EXPECT_EQ(subsystem_error("{equations: {parameters: {mass: 1_000}}}"),
            "m.yaml:3: parameter 'mass' of subsystem 'a' must be a finite number such as 2, -0.5 "
            "or 1e4, not '1_000'");
  EXPECT_EQ(error("experiment: {stop: soon}\nsubsystems: {}\n").find("m.yaml:1: 'stop' of "), 0u);
}

TEST_F(ModelFile, overrides_parameters_and_starts_beside_equations) {
  const Model model = read(
      "experiment: {stop: 1}\nsubsystems:\n"
      "  a:\n    equations: &mass\n      parameters: {m: 1}\n      inputs: {f: 1}\n"
      "      states: {x: 1}\n      derivatives: {x: f/m}\n"
      "  b:\n    equations: *mass\n    parameters: {m: 2}\n    start: {x: 7, f: 8}\n");
  EXPECT_EQ(model.subsystems[0].description.states[0].start, 1.0);
  EXPECT_EQ(model.subsystems[1].description.states[0].start, 7.0);
  EXPECT_EQ(model.subsystems[1].description.inputs[0].start, 8.0);
  EXPECT_EQ(subsystem_error("{equations: {states: {xpos: 1}, derivatives: {xpos: 1}}, "
                            "start: {xpso: 1}}"),
            "m.yaml:3: subsystem 'a' has no input or state 'xpso'; did you mean 'xpos'? known "
            "names: xpos");
}

TEST_F(ModelFile, reads_native_subsystems) {
  std::filesystem::create_symlink(NATIVE_TEST_SUBSYSTEMS, folder_ / "libcart.so");
  const std::string head = "experiment: {stop: 1}\nsubsystems:\n  wing:\n";
  const Model model = read(head +
                           "    native: {library: libcart.so, type: cart}\n"
                           "    parameters: {mass: 30}\n    start: {x: 3, force: 2}\n");
  const SubsystemDescription& wing = model.subsystems[0].description;
  EXPECT_EQ(wing.kind, "native");
  EXPECT_EQ(wing.states[0].start, 3.0);
  EXPECT_EQ(wing.inputs[0].start, 2.0);
  EXPECT_EQ(wing.inputs[0].unit, "N");
  ModelChanges changes =
      read_changes(std::vector<std::string>{"wing.m*=5", "wing.x=9", "*.force=1"});
  changes.back().unit = "kN";
  const Model changed = read_model_file(folder_ / "m.yaml", changes);
  EXPECT_EQ(changed.subsystems[0].description.states[0].start, 9.0);
  EXPECT_EQ(changed.subsystems[0].description.inputs[0].start, 1000.0);

  EXPECT_EQ(error(head + "    native: {library: libcart.so, type: cart}\n"
                         "    parameters: {mas: 30}\n"),
            "m.yaml:5: subsystem 'wing': unknown parameter 'mas'; did you mean 'mass'? known "
            "parameters: mass");
  EXPECT_EQ(error(head + "    native: {library: libcart.so, type: cart}\n    start: {y: 30}\n"),
            "m.yaml:5: subsystem 'wing' has no input or state 'y'; known names: x, v, force");
  EXPECT_EQ(error(head + "    native: {library: libcart.so, type: cat}\n").find("m.yaml:4: "), 0u);
  EXPECT_NE(error(head + "    native: {type: cart}\n").find("give library:"), std::string::npos);
  EXPECT_NE(error(head + "    native: {library: libcart.so}\n").find("lacks 'type'"),
            std::string::npos);
}

TEST_F(ModelFile, that_is_not_a_file_is_an_error) {
  const auto message = [](const std::filesystem::path& path) -> std::string {
    try {
      read_model_file(path);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message("no/such.yaml").find("no/such.yaml: there is no such file"), 0u);
  EXPECT_NE(message(folder_).find(": this is a folder"), std::string::npos);
  EXPECT_NE(message("/dev/zero").find("not a regular file"), std::string::npos);
  EXPECT_NE(message("").find("no such file"), std::string::npos);
}

TEST_F(ModelFile, that_is_empty_is_an_error) {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n", "~\n"}) {
    EXPECT_EQ(error(text).find("m.yaml:1: the model file is empty"), 0u) << text;
  }
}

TEST_F(ModelFile, that_is_not_yaml_names_the_line) {
  EXPECT_EQ(error("name: x\nexperiment: {stop: 1\nsubsystems: [\n").find("m.yaml:"), 0u);
  EXPECT_EQ(error("name: x\n\tfoo: 1\n").find("m.yaml:2: this is not valid YAML: "), 0u)
      << error("name: x\n\tfoo: 1\n");
  EXPECT_EQ(error("a: *nowhere\n").find("m.yaml:1: this is not valid YAML"), 0u);
  EXPECT_EQ(error("name: a\n---\nname: b\n").find("m.yaml:3: a second YAML document"), 0u);
}

TEST_F(ModelFile, that_is_no_text_is_an_error) {
  EXPECT_EQ(error(std::string("name: a\n\0b", 10)).find("m.yaml:2: byte 0x0 is not UTF-8"), 0u);
  EXPECT_EQ(error("name: \xff\n").find("m.yaml:1: byte 0xff is not UTF-8"), 0u);
  std::string binary;
  for (int i = 0; i < 5000; ++i) {
    binary += static_cast<char>((i * 7919) >> 3);
  }
  EXPECT_NE(error(binary).find("not UTF-8"), std::string::npos);
}

TEST_F(ModelFile, that_nests_deeply_or_refers_to_itself_is_an_error) {
  for (const char* part : {"[", "{a: ", "- ", "{", "? ", "((", "&a [*a, "}) {
    std::string text = "name: ";
    for (int i = 0; i < 20000; ++i) {
      text += part;
    }
    EXPECT_NE(error(text), "no error") << part;
  }
  EXPECT_EQ(error(std::string(20000, '[')), "m.yaml:1: this nests too deeply for a model file");
  EXPECT_NE(error("&a {name: x, experiment: *a, subsystems: *a}\n"), "no error");
  EXPECT_NE(error("experiment: {stop: 1}\nsubsystems: &s {a: {equations: *s}}\n"), "no error");
}

struct Wrong {
  const char* text;
  const char* message;
};

TEST_F(ModelFile, with_something_wrong_names_line_and_remedy) {
  const Wrong cases[] = {
      {"just text\n", "m.yaml:1: the model file must be a map"},
      {"- a\n", "m.yaml:1: the model file must be a map (lines 'name: value'), not a list"},
      {"subsystem: {}\n",
       "m.yaml:1: unknown key 'subsystem' in the model file; did you mean 'subsystems'? known "
       "keys: name, experiment, parameters, maps, functions, templates, subsystems, connections, "
       "constraints"},
      {"name: a\nname: b\n", "m.yaml:2: 'name' is there twice in the model file"},
      {"name: a\n", "m.yaml:1: the model file lacks 'experiment'; add experiment: {"},
      {"experiment: {start: 0}\n", "m.yaml:1: 'experiment' of the model file lacks 'stop'"},
      {"experiment: {stop: 1, step: 1}\n", "m.yaml:1: unknown key 'step' in 'experiment'"},
      {"experiment: {stop: 1}\n", "the model file lacks 'subsystems'"},
      {"experiment: {stop: 1}\nsubsystems:\n",
       "m.yaml:2: 'subsystems' of the model file must name"},
      {"experiment: {stop: 1}\nsubsystems: []\n",
       "m.yaml:2: 'subsystems' of the model file must be"},
      {"experiment: {stop: 1}\nsubsystems:\n  1a: {}\n", "m.yaml:3: subsystem '1a' is not a name"},
      {"experiment: {stop: 1}\nsubsystems:\n  a-b: {}\n",
       "m.yaml:3: subsystem 'a-b' is not a name"},
      {"experiment: {stop: 1}\nsubsystems:\n  [a]: {}\n", "must be a name, not a list"},
      {"experiment: {stop: 1}\nsubsystems:\n  a: {}\n",
       "m.yaml:3: subsystem 'a' needs exactly one"},
      {"experiment: {stop: 1}\nsubsystems:\n  a:\n", "m.yaml:3: subsystem 'a' needs exactly one"},
      {"experiment: {stop: 1}\nsubsystems:\n  a: 5\n", "m.yaml:3: subsystem 'a' must be a map"},
      {"experiment: {stop: 1}\nsubsystems: {a: {equations: }, a: {equations: }}\n",
       "m.yaml:2: 'a' is there twice in 'subsystems'"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_NE(error(text).find(expected), std::string::npos) << error(text) << "\nfor\n" << text;
  }
}

TEST_F(ModelFile, with_a_wrong_subsystem_names_line_and_remedy) {
  const Wrong cases[] = {
      {"{equations: , native: {type: x}}", "found equations and native"},
      {"{equation: }", "unknown key 'equation' in subsystem 'a'; did you mean 'equations'?"},
      {"{fmu: right.fmu}", "there is no FMU "},
      {"{equations: {state: {x: 1}}}", "did you mean 'states'? known keys: parameters, inputs"},
      {"{equations: {states: {x: 1}}}", "state 'x' has no derivative"},
      {"{equations: {derivatives: {x: 1}}}", "derivative of 'x', which is not a state"},
      {"{equations: {states: {x: }, derivatives: {x: 1}}}",
       "m.yaml:3: state 'x' of subsystem 'a' must be a finite number such as 2, -0.5 or 1e4, not "
       "nothing"},
      {"{equations: {outputs: {y: max(1, 2)}}}",
       "m.yaml:3: output '2)' of subsystem 'a' is not a name: use letters, digits and _, not "
       "starting with a digit (inside { } a comma ends a value"},
      {"{equations: {outputs: {y: [1, 2]}}}", "output 'y' of subsystem 'a' must be a text, not a"},
      {"{equations: {outputs: {y: }}}", "output 'y' of subsystem 'a' must be a text, not nothing"},
      {"{equations: {outputs: {y: 1 + z}}}",
       "m.yaml:3: subsystem 'a', output 'y': unknown name 'z'; known names: t (position 5 of"},
      {"{equations: {states: [u]}}", "must be a map (lines 'name: value'), not a list"},
      {"{equations: {inputs: {u: 1, u: 2}}}", "m.yaml:3: 'u' is there twice"},
      {"{equations: {units: {x: m}}}", "unit of an unknown name 'x'"},
      {"{equations: , parameters: {m: 1}}", "subsystem 'a' has no parameter 'm'"},
      {"{native: wing}", "must be a map"},
      {"{native: {typ: wing}}", "did you mean 'type'?"},
      {"{native: {type: no_such_type}}", "there is no type 'no_such_type' in the program"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string message = subsystem_error(text);
    EXPECT_TRUE(message.starts_with("m.yaml:3: ")) << message;
    EXPECT_NE(message.find(expected), std::string::npos) << message << "\nfor\n" << text;
  }
}

TEST_F(ModelFile, with_a_wrong_connection_or_constraint_names_line_and_remedy) {
  const std::string head = "experiment: {stop: 1}\nsubsystems: {a: {equations: }}\n";
  const Wrong cases[] = {
      {"connections: a.b -> c.d\n", "m.yaml:3: 'connections' of the model file must be a list"},
      {"connections:\n  - a.b\n",
       "m.yaml:4: connection must read 'subsystem.output -> "
       "subsystem.input', not 'a.b'"},
      {"connections:\n  - a.b -> c\n", "m.yaml:4: connection must read"},
      {"connections:\n  - a -> c.d\n", "m.yaml:4: connection must read"},
      {"connections:\n  - a.b -> c.d -> e.f\n", "m.yaml:4: connection must read"},
      {"connections:\n  - a.b: c.d\n", "m.yaml:4: connection must be a text, not a map"},
      {"connections:\n  -\n", "connection must be a text, not nothing"},
      {"constraints:\n  - unknown: 1x\n    equation: a\n    feeds: {a.b: 1}\n",
       "m.yaml:4: 'unknown' of constraint must be a name"},
      {"constraints:\n  - unknown: x\n    feeds: {a.b: 1}\n",
       "m.yaml:4: constraint lacks 'equation'"},
      {"constraints:\n  - unknown: x\n    equation: a\n", "constraint lacks 'feeds'"},
      {"constraints:\n  - unknown: x\n    equation: a\n    feeds: {}\n",
       "m.yaml:6: 'feeds' of constraint must name at least one input"},
      {"constraints:\n  - unknown: x\n    equation: a\n    feeds: {b: 1}\n",
       "m.yaml:6: 'feeds' of constraint must name inputs as 'subsystem.input', not 'b'"},
      {"constraints:\n  - unknown: x\n    equation: a\n    feeds: {a.b: c}\n",
       "m.yaml:6: factor of 'a.b' must be a finite number"},
      {"constraints:\n  - unknown: x\n    equation: a\n    feed: {a.b: c}\n",
       "m.yaml:6: unknown key 'feed' in constraint; did you mean 'feeds'?"},
      {"constraints: {}\n", "m.yaml:3: 'constraints' of the model file must be a list"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string message = error(head + text);
    EXPECT_NE(message.find(expected), std::string::npos) << message << "\nfor\n" << text;
  }
}

TEST_F(ModelFile, reads_schedule_effort_and_events) {
  const Model model = read_model_file(write(
      "experiment: {stop: 1}\nsubsystems:\n  a:\n    effort: 2.5\n    equations: {outputs: {y: "
      "t}}\n  b: {equations: {outputs: {y: t}}}\nschedule: {groups: [[b], [a]]}\nevents: [2, "
      "0.5, 2]\n"));
  EXPECT_EQ(model.subsystems[0].effort, 2.5);
  EXPECT_EQ(model.subsystems[1].effort, 0.0);
  ASSERT_EQ(model.groups.size(), 2u);
  EXPECT_EQ(model.groups[0][0].name, "b");
  EXPECT_EQ(model.groups[1][0].name, "a");
  EXPECT_EQ(model.events, (std::vector<double>{0.5, 2.0}));
}

std::string many_masses(int count) {
  std::ostringstream text;
  text << "experiment: {stop: 1}\nsubsystems:\n";
  for (int i = 0; i < count; ++i) {
    text << "  mass" << i << ":\n    equations:\n      parameters: {m: 5, c: 1e4, d: 10}\n"
         << "      inputs: {left: 0, right: 0}\n      states: {x: 1, v: 0}\n"
         << "      derivatives: {x: v, v: (left - 2*x + right - d*v)*c/m}\n"
         << "      outputs: {x: x}\n      units: {x: m, v: m/s}\n";
  }
  text << "connections:\n";
  for (int i = 0; i + 1 < count; ++i) {
    text << "  - mass" << i << ".x -> mass" << i + 1 << ".left\n";
  }
  return text.str();
}

/// In processor time, which other processes have no part in.
TEST_F(ModelFile, with_a_thousand_subsystems_takes_four_times_as_long_as_with_250) {
  const auto cost = [this](int count) {
    const auto path = write(many_masses(count));
    const std::clock_t begin = std::clock();
    const Model model = read_model_file(path);
    const std::clock_t end = std::clock();
    EXPECT_EQ(model.subsystems.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(model.connections.size(), static_cast<std::size_t>(count - 1));
    return static_cast<double>(end - begin);
  };
  cost(250);
  const double few = cost(250);
  EXPECT_LT(cost(1000), 8.0 * few);
}

}  // namespace
}  // namespace concord
