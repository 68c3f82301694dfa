#include "simulation/file_prints.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "concord/errors.hpp"

namespace concord {
namespace file_prints_test {

namespace fs = std::filesystem;

TEST(FilePrints, AreOfTheBytes) {
  const fs::path path = fs::path(testing::TempDir()) / "concord_file_prints.csv";
  std::ofstream(path) << "abc";
  Model model;
  model.files = {{"table", path, "within.zip/a.csv"}, {"library", {}, "libsome.so"}};
  const auto prints = prints_of(model);
  EXPECT_EQ(prints[0].name, "within.zip/a.csv");
  EXPECT_EQ(prints[0].sha256,  // FIPS 180-2, appendix B.1
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_TRUE(prints[1].sha256.starts_with("not known: "));
  fs::remove(path);
  EXPECT_THROW(prints_of(model), InputError);
}

TEST(FilePrints, TheTextComesBeforeWhatItNames) {
  const std::vector<FilePrint> before = {
      {"model file", "m.yaml", "1"}, {"table", "a.csv", "2"}, {"table", "b.csv", "3"}};
  EXPECT_EQ(changed_files(before, before), "");
  std::vector<FilePrint> now = before;
  for (FilePrint& print : now) print.name = "elsewhere/" + print.name;
  EXPECT_EQ(changed_files(before, now), "");
  now[1].sha256 = now[2].sha256 = "4";
  EXPECT_EQ(changed_files(before, now),
            "the table 'elsewhere/a.csv' has changed, the table 'elsewhere/b.csv' has changed");
  now[0].sha256 = "5";
  EXPECT_EQ(changed_files(before, now), "the model file 'elsewhere/m.yaml' has changed");
  now = {before[0], before[1]};
  EXPECT_EQ(changed_files(before, now), "the table 'b.csv' is not given any more");
  EXPECT_EQ(changed_files(now, before), "the table 'b.csv' was not there");
}

}  // namespace file_prints_test
}  // namespace concord
