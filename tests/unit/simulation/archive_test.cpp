#include "concord/archive.hpp"

#include <gtest/gtest.h>
#include <petscsys.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "concord/errors.hpp"
#include "concord/simulation.hpp"
#include "simulation/simulation_core.hpp"
#include "unit/simulation/pair_model.hpp"

namespace concord {
namespace archive_test {

ModelSource pair_source() {
  const auto path = std::filesystem::path(testing::TempDir()) / "concord_archived_pair.yaml";
  std::ofstream(path) << pair;
  return model_file(path.string());
}

struct Inner {
  std::vector<double> values;
  bool flag = false;
  void io(Archive& archive) { archive(values, flag); }
};

struct Outer {
  std::array<double, 2> pair{};
  std::optional<Inner> inner;
  std::vector<Inner> list;
  std::vector<bool> bits;
  std::string text;
  std::optional<double> none;
  void io(Archive& archive) { archive(pair, inner, list, bits, text, none); }
};

TEST(Archive, ReadsWhatItHasWritten) {
  Outer written{
      {1.5, -2.0}, Inner{{1.0, 2.0, 3.0}, true}, {{{4.0}, false}, {}}, {true, false, true}, "words",
      {}};
  Archive out;
  out(written);
  Outer read;
  read.none = 3.0;
  Archive in(out.bytes());
  in(read);
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(read.pair, written.pair);
  ASSERT_TRUE(read.inner);
  EXPECT_EQ(read.inner->values, written.inner->values);
  EXPECT_TRUE(read.inner->flag);
  ASSERT_EQ(read.list.size(), 2u);
  EXPECT_EQ(read.list[0].values, written.list[0].values);
  EXPECT_EQ(read.bits, written.bits);
  EXPECT_EQ(read.text, "words");
  EXPECT_FALSE(read.none);
}

/// Two subsystems with an input each, the second with a further one, on any rank.
Archive::Layout layout(const std::vector<std::size_t>& inputs) {
  ArchiveLayout result;
  std::size_t end = 0;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    result.ends[static_cast<std::size_t>(Per::subsystem)].push_back(k + 1);
    result.ends[static_cast<std::size_t>(Per::input)].push_back(end += inputs[k]);
  }
  return std::make_shared<ArchiveLayout>(result);
}

struct OfARank {
  double time = 0.0;
  std::vector<double> values, none;
  std::vector<Inner> lists;
  std::vector<char> own;  ///< of each subsystem, what it passes on itself

  void io(Archive& archive) {
    archive(time);
    archive.per(Per::input, values, none, lists);
    for (std::size_t k = 0; k < own.size(); ++k) archive.within_itself(k, [&] { archive(own[k]); });
  }
};

TEST(Archive, ComesApartIntoWhatSubsystemsRemember) {
  OfARank written{2.5, {1.0, 2.0, 3.0}, {}, {{{4.0}}, {{5.0}}, {{6.0, 7.0}}}, {'a', 'b'}};
  Archive out(layout({1, 2}));
  out(written);
  for (const std::size_t k : {0u, 1u}) {
    OfARank read;
    read.own.resize(1);
    read.none.resize(k + 1);
    const Archive::Memory& all = out.memory();
    Archive in(layout({k + 1}), {all.common, {all.own[k]}, {all.themselves[k]}});
    in(read);
    EXPECT_TRUE(in.at_end());
    EXPECT_EQ(read.time, 2.5);
    EXPECT_EQ(read.values, k == 0 ? std::vector({1.0}) : std::vector({2.0, 3.0}));
    EXPECT_TRUE(read.none.empty());
    EXPECT_EQ(read.lists.back().values, k == 0 ? std::vector({4.0}) : std::vector({6.0, 7.0}));
    EXPECT_EQ(read.own[0], k == 0 ? 'a' : 'b');
    Archive itself(all.themselves[k]);
    char remembered = ' ';
    itself(remembered);
    EXPECT_EQ(remembered, read.own[0]);
    EXPECT_TRUE(itself.at_end());
  }
}

TEST(Archive, ArraysOfSubsystemsAreWhole) {
  std::vector<double> values(2);
  Archive out(layout({1, 2}));
  EXPECT_THROW(out.per(Per::input, values), std::logic_error);
}

TEST(Archive, RefusesToReadBeyondItsEnd) {
  double number = 1.0;
  Archive out;
  out(number);
  Archive in(out.bytes());
  in(number);
  EXPECT_THROW(in(number), std::logic_error);
}

struct Second {
  double value = 1.0;
  int memory_version() const { return 2; }
  void io(Archive& archive) { archive(value); }
};

TEST(Archive, KnowsClassesAndTheirVersions) {
  Inner first;
  Second second;
  Archive unasked;
  unasked(first, second);
  EXPECT_TRUE(unasked.classes().empty());
  Archive out;
  out.note_classes();
  out(first, second);
  ASSERT_EQ(out.classes().size(), 2u);
  EXPECT_TRUE(out.classes()[1].name.ends_with("::Second"));
  EXPECT_EQ(out.classes()[0].version, 1);
  EXPECT_EQ(out.classes()[1].version, 2);
  EXPECT_EQ(out.bytes(), unasked.bytes());
}

/// Each class of a run at its turn: in another version, and not there at all.
TEST(Archive, RefusesAnotherVersionOfAnyClassByItsName) {
  for (const char* method : {"jfm", "jacobi", "missiles", "monolithic"}) {
    const Options options = {{"cosim_type", method}, {"cosim_step", "0.1"}};
    Simulation simulation(PETSC_COMM_WORLD, pair_source(), options);
    simulation.start();
    simulation.advance();
    SimulationCore& core = simulation.core();
    Archive written = core.snapshot(SnapshotFor::any_ranks);
    const std::vector<ArchiveClass> classes = written.classes();
    EXPECT_GT(classes.size(), 10u) << method;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      auto others = classes, fewer = classes;
      others[i].version += 1;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      for (const auto& list : {others, fewer}) {
        Archive read = core.archive_of(written.memory());
        read.require_classes(list);
        try {
          core.restore(read);
          ADD_FAILURE() << method << ": " << classes[i].name;
        } catch (const std::runtime_error& error) {
          EXPECT_NE(std::string(error.what()).find(classes[i].name), std::string::npos)
              << error.what();
        }
      }
    }
    Archive read = core.archive_of(written.memory());
    read.require_classes(classes);
    core.restore(read);
    EXPECT_TRUE(read.at_end());
  }
}

}  // namespace archive_test
}  // namespace concord
