#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "concord/errors.hpp"
#include "files/hdf5_io.hpp"
#include "record/results_reader.hpp"
#include "results_fixture.hpp"

namespace concord::test {
namespace {

namespace fs = std::filesystem;

class BrokenFiles : public ResultsFixture {
 protected:
  void SetUp() override {
    ResultsFixture::SetUp();
    fs::remove(file("run.h5"));
    path_ = write("run.h5", 20, [](double t) { return t; });
  }

  std::string error() const {
    try {
      const ResultsReader reader(path_);
      return "no error";
    } catch (const InputError& e) {
      return e.what();
    }
  }

  /// Puts another dataset in the place of `name`.
  void replace(const char* name, hid_t type, std::vector<hsize_t> shape, bool sparse = false) {
    const Hdf5Properties access = file_access();
    const Hdf5File file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, access));
    H5Ldelete(file, name, H5P_DEFAULT);
    const Hdf5Properties creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_fill_time(creation, H5D_FILL_TIME_ALLOC);
    const std::vector<hsize_t> chunk(shape.size(), 1);
    if (sparse) H5Pset_chunk(creation, static_cast<int>(shape.size()), chunk.data());
    if (!sparse) H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    const Hdf5Dataspace space(
        H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
    ASSERT_TRUE(
        Hdf5Dataset(H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT)));
  }

  std::string path_;
};

}  // namespace

TEST_F(BrokenFiles, UntouchedFileReads) { EXPECT_EQ(error(), "no error"); }

TEST_F(BrokenFiles, WrongShapesAndTypes) {
  const auto broken = [&](const char* name, hid_t type, std::vector<hsize_t> shape) {
    SetUp();
    replace(name, type, std::move(shape));
    return error();
  };
  const std::string ours = "not a Concord results file";
  EXPECT_NE(broken("/time", H5T_IEEE_F64LE, {20, 1}).find(ours), std::string::npos);
  EXPECT_NE(broken("/time", H5T_C_S1, {20}).find("numbers"), std::string::npos);
  EXPECT_NE(broken("/time", H5T_IEEE_F64LE, {20}).find("increase"), std::string::npos);
  EXPECT_NE(broken("/time", H5T_IEEE_F64LE, {0}).find("no rows"), std::string::npos);
  EXPECT_NE(broken("/outputs/values", H5T_IEEE_F64LE, {20, 3}).find("per name"), std::string::npos);
  EXPECT_NE(broken("/outputs/values", H5T_IEEE_F64LE, {20}).find("dimensions"), std::string::npos);
  EXPECT_NE(broken("/outputs/names", H5T_IEEE_F64LE, {2}).find("strings"), std::string::npos);
  EXPECT_NE(broken("/outputs/units", H5T_C_S1, {2}).find("strings"), std::string::npos);
}

TEST_F(BrokenFiles, ClaimsThatTheFileDoesNotBack) {
  replace("/time", H5T_IEEE_F64LE, {hsize_t{1} << 50}, true);
  EXPECT_NE(error().find("claims more"), std::string::npos);
  SetUp();
  replace("/outputs/values", H5T_IEEE_F64LE, {hsize_t{1} << 50, 2}, true);
  EXPECT_NE(error().find("claims more"), std::string::npos);
}

TEST_F(BrokenFiles, NoFileFolderTextAndCutOffFiles) {
  path_ = file("missing.h5");
  EXPECT_NE(error().find("no such file"), std::string::npos);
  path_ = file(".");
  EXPECT_NE(error().find("folder"), std::string::npos);
  path_ = file("text.h5");
  std::ofstream(path_) << "time,left.x\n";
  EXPECT_NE(error().find("not an HDF5 file"), std::string::npos);
  for (const double part : {0.9, 0.5, 0.1, 0.01}) {
    SetUp();
    fs::resize_file(path_,
                    static_cast<std::uintmax_t>(part * static_cast<double>(fs::file_size(path_))));
    EXPECT_NE(error().find("damaged or cut off"), std::string::npos) << part << error();
  }
}

}  // namespace concord::test
