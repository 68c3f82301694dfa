#include "checkpoint/checkpoint_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "concord/errors.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

class CheckpointFile : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  static CheckpointContent content(double time) {
    const Archive::Memory memory{
        {std::byte{5}}, {{std::byte{1}}, {}, {std::byte{2}}}, {{}, {}, {}}};
    const LaneLayouts layouts{{"c 1 1 point\n", "c 1 1 point/inputs\n", ""}, {0, 1, 2, 1, 2, 2, 2}};
    return {"1.2",
            "two masses",
            "left.m=6",
            {{"table", "road.csv", "5f"}},
            "-cosim_type jfm",
            3,
            time,
            42,
            {.aim = 0.01, .repeatable = true, .best_aim = 0.5},
            {.groups = {{{"left", "right"}, 10.0, 20.0}}, .why = {}},
            {{"left", "equations", "", false, {"x"}}},
            {{"Course", 2}},
            {std::byte{7}},
            layouts,
            {},
            memory};
  }
  void write(double time) const {
    CheckpointContent written = content(time);
    write_checkpoint(path_, written, 3);
  }
  std::string refusal() const {
    try {
      read_checkpoint(path_);
      return {};
    } catch (const InputError& error) {
      return error.what();
    }
  }
  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  const fs::path folder_ = fs::path(testing::TempDir()) / "concord_checkpoint_file";
  const fs::path path_ = folder_ / "run.chk";
};

TEST_F(CheckpointFile, IsReadAsItWasWritten) {
  write(0.5);
  const CheckpointContent found = read_checkpoint(path_);
  EXPECT_EQ(found.version, "1.2");
  EXPECT_EQ(found.model, "two masses");
  EXPECT_EQ(found.changes, "left.m=6");
  ASSERT_EQ(found.files.size(), 1u);
  EXPECT_EQ(found.files.front().name, "road.csv");
  EXPECT_EQ(found.options, "-cosim_type jfm");
  EXPECT_EQ(found.time, 0.5);
  EXPECT_EQ(found.steps, 42);
  EXPECT_EQ(found.turn.aim, 0.01);
  EXPECT_TRUE(found.turn.repeatable);
  EXPECT_EQ(found.turn.best_aim, 0.5);
  EXPECT_EQ(found.ranks, 3);
  EXPECT_EQ(found.memory.common, content(0.5).memory.common);
  EXPECT_EQ(found.memory.own, content(0.5).memory.own);
}

TEST_F(CheckpointFile, ThoseBeforeAreKept) {
  for (const double time : {1.0, 2.0, 3.0, 4.0}) write(time);
  const auto kept = checkpoints_at(path_);
  ASSERT_EQ(kept.size(), 3u);
  for (std::size_t n = 0; n < 3; ++n)
    EXPECT_EQ(read_checkpoint(kept[n]).time, 4.0 - static_cast<double>(n));
  EXPECT_EQ(kept[2], earlier_checkpoint(path_, 2));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 3);
}

/// As a kill between two renames leaves it.
TEST_F(CheckpointFile, AMissingOneLosesNoOther) {
  for (const double time : {1.0, 2.0, 3.0}) write(time);
  fs::remove(earlier_checkpoint(path_));
  write(4.0);
  const auto kept = checkpoints_at(path_);
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(read_checkpoint(kept[1]).time, 3.0);
  EXPECT_EQ(read_checkpoint(kept[2]).time, 1.0);
}

TEST_F(CheckpointFile, CutAnywhereItIsRefused) {
  write(1.0);
  const std::string whole = bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    put(whole.substr(0, size));
    EXPECT_NE(refusal(), "") << size;
  }
}

TEST_F(CheckpointFile, ChangedAnywhereItIsRefused) {
  write(1.0);
  const std::string whole = bytes();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    put(changed);
    EXPECT_NE(refusal(), "") << at;
  }
}

TEST_F(CheckpointFile, OneOfAnotherFormatIsCalledSo) {
  write(1.0);
  std::string earlier = bytes();
  earlier[16] = 6;
  put(earlier);
  EXPECT_NE(refusal().find("another format, 6 instead of"), std::string::npos) << refusal();
}

TEST_F(CheckpointFile, OnlyThoseOfTheModelAreReplaced) {
  require_replaceable_checkpoint(path_, "two masses");
  write(1.0);
  require_replaceable_checkpoint(path_, "two masses");
  EXPECT_THROW(require_replaceable_checkpoint(path_, "chain"), InputError);
  put("a text");
  EXPECT_THROW(require_replaceable_checkpoint(path_, "two masses"), InputError);
  EXPECT_THROW(require_replaceable_checkpoint(folder_, "two masses"), InputError);
}

TEST_F(CheckpointFile, ALinkStaysOne) {
  const fs::path link = folder_ / "link.chk";
  fs::create_symlink(path_, link);
  CheckpointContent written = content(1.0);
  write_checkpoint(link, written, 3);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_checkpoint(path_).time, 1.0);
}

}  // namespace
}  // namespace concord
