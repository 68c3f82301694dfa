#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "concord/errors.hpp"
#include "modelfile/model_file.hpp"

namespace concord {
namespace {

/// Files that include each other, in a folder of their own.
class Include : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("concord_include_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_ / "parts" / "road");
    write("model.yaml",
          "include: [parts/cells.yaml]\nexperiment: {stop: T}\nparameters: {k: 3}\nsubsystems:\n"
          "  a: {template: cell, start: {x: 7}}\nconnections: [a.x -> b.left]\n");
    write("parts/cells.yaml",
          "include: [road/road.yaml]\nparameters: {T: 2*k}\ntemplates:\n  cell:\n    equations: "
          "{inputs: {left: 0}, states: {x: T}, derivatives: {x: k*(left - x)}, outputs: {x: x}}\n"
          "  track:\n    table: {file: road/rows.csv}\n"
          "subsystems: {b: {template: cell}}\nconnections: [road.z -> a.left]\nevents: [0.5]\n");
    write("parts/road/road.yaml",
          "subsystems: {road: {table: {file: rows.csv}}, track: {template: track}}\n"
          "events: [0.25]\n");
    write("parts/road/rows.csv", "t,z\n0,1\n1,4\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  void add(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary | std::ios::app) << text;
  }
  Model read(const ModelChanges& changes = {}) const {
    return read_model_file(folder_ / "model.yaml", changes);
  }
  /// Without the folder, wherever it stands.
  std::string error() const {
    try {
      read();
    } catch (const InputError& wrong) {
      std::string message = wrong.what();
      const std::string prefix = folder_.string() + "/";
      for (auto at = message.find(prefix); at != message.npos; at = message.find(prefix)) {
        message.erase(at, prefix.size());
      }
      return message;
    }
    return "no error";
  }

  std::filesystem::path folder_;
};

TEST_F(Include, takes_part_as_if_written_here) {
  const Model model = read();
  EXPECT_EQ(model.stop, 6.0);
  std::vector<std::string> names;
  for (const auto& entry : model.subsystems) {
    names.push_back(entry.description.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"road", "track", "b", "a"}));
  EXPECT_EQ(model.subsystems[2].description.states[0].start, 6.0);
  EXPECT_EQ(model.subsystems[3].description.states[0].start, 7.0);
  ASSERT_EQ(model.connections.size(), 2u);
  EXPECT_EQ(model.connections[0].from, "road.z");
  EXPECT_EQ(model.events, (std::vector<double>{0.25, 0.5, 1.0}));
  EXPECT_EQ(read(read_changes(std::vector<std::string>{"parameters.k=1"})).stop, 2.0);
}

TEST_F(Include, twice_or_in_a_circle_is_an_error) {
  add("parts/road/road.yaml", "include: [../../model.yaml]\n");
  EXPECT_EQ(error(),
            "parts/road/road.yaml:3: included file is there already: 'model.yaml', at model.yaml; "
            "include it once");
  SetUp();
  write("model.yaml", "include:\n  - parts/cells.yaml\n  - parts/../parts/road/road.yaml\n");
  EXPECT_EQ(error(),
            "model.yaml:3: included file is there already: 'parts/road/road.yaml', at "
            "parts/cells.yaml:1; include it once");
}

TEST_F(Include, double_definitions_name_both_places) {
  const std::pair<const char*, const char*> doubles[] = {
      {"name: x\n", "model.yaml:7: 'name' of the model file is there twice, also at parts/road/"},
      {"experiment: {stop: 1}\n", "model.yaml:2: 'experiment' of the model file is there twice"},
      {"parameters: {k: 1}\n", "model.yaml:3: parameter 'k' is there twice, also at parts/road/"},
      {"templates: {cell: {}}\n",
       "parts/cells.yaml:4: template 'cell' is there twice, also at "
       "parts/road/road.yaml:3; remove one"}};
  for (const auto& [text, told] : doubles) {
    SetUp();
    add("model.yaml", "name: x\n");
    add("parts/road/road.yaml", text);
    EXPECT_EQ(error().find(told), 0u) << error();
  }
  SetUp();
  add("model.yaml", "constraints: [{unknown: f, equation: a.x, feeds: {b.left: 1}}]\n");
  add("parts/road/road.yaml", "constraints: [{unknown: f, equation: a.x, feeds: {a.left: 1}}]\n");
  EXPECT_EQ(error(),
            "model.yaml:7: the constraint's unknown 'f' has the name of a constraint before, at "
            "parts/road/road.yaml:3; give it another");
  SetUp();
  write("parts/road/road.yaml", "subsystems: {a: {equations: {}}}\n");
  EXPECT_EQ(error(),
            "model.yaml:5: subsystem 'a' is there twice, also at parts/road/road.yaml:1; remove "
            "one");
}

TEST_F(Include, errors_name_the_included_file_and_its_line) {
  const std::pair<const char*, const char*> wrong[] = {
      {"subsystem: {}\n", "parts/road/road.yaml:1: unknown key 'subsystem' in the included file; "},
      {"- 1\n", "parts/road/road.yaml:1: the included file must be a map"},
      {"\n", "parts/road/road.yaml:1: the included file is empty; it needs content"},
      {"subsystems: {c: {table: {file: none.csv}}}\n",
       "parts/road/road.yaml:1: 'file' of 'table' of subsystem 'c' is not there: "
       "'parts/road/none.csv'; "},
      {"connections: [c.x -> ]\n", "parts/road/road.yaml:1: connection must read"},
      {"subsystems: {c: {template: none}}\n",
       "parts/road/road.yaml:1: 'template' of subsystem 'c'"},
      {"\nsubsystems: {c: {equations: {outputs: {y: q}}}}\n",
       "parts/road/road.yaml:2: subsystem 'c', output 'y': unknown name 'q'"}};
  for (const auto& [text, told] : wrong) {
    write("parts/road/road.yaml", text);
    EXPECT_EQ(error().find(told), 0u) << error();
  }
  write("model.yaml", "\ninclude: [none.yaml]\n");
  EXPECT_EQ(error(),
            "model.yaml:2: included file is not there: 'none.yaml'; paths are relative to this "
            "file, or name what comes with Concord: library/control.yaml, library/mechanics.yaml, "
            "library/sources.yaml");
  write("model.yaml", "include: none.yaml\n");
  EXPECT_EQ(error().find("model.yaml:1: 'include' of the model file must be a list"), 0u);
}

}  // namespace
}  // namespace concord
