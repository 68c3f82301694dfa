#include "record/results_schema.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "example_run.hpp"
#include "files/hdf5_io.hpp"
#include "support/hdf5_error.hpp"

namespace concord::test {
namespace {

/// "path" or "object@attribute" -> "f64[T, n_out]".
using Types = std::map<std::string, std::string>;

std::string place(const std::string& object, const std::string& attribute) {
  return object + "@" + attribute;
}

Types types_of_tables() {
  Types types;
  for (const ResultsDataset& dataset : results_datasets())
    EXPECT_TRUE(types.emplace(dataset.path, type_text(dataset)).second) << dataset.path;
  for (const ResultsAttribute& attribute : results_attributes())
    EXPECT_TRUE(types.emplace(place(attribute.object, attribute.name), type_text(attribute)).second)
        << attribute.name;
  return types;
}

std::vector<std::string> code_words(const std::string& text) {
  static const std::regex word("`([^`]*)`");
  std::vector<std::string> words;
  for (std::sregex_iterator found(text.begin(), text.end(), word), end; found != end; ++found)
    words.push_back((*found)[1]);
  return words;
}

/// "f64, str" -> {"f64", "str"}, and "f64[T, n]" stays one.
std::vector<std::string> types_in(const std::string& cell) {
  static const std::regex type(R"((str|f64|i32|i64)(\[[^\]]*\])?)");
  std::vector<std::string> types;
  for (std::sregex_iterator found(cell.begin(), cell.end(), type), end; found != end; ++found)
    types.push_back(found->str());
  return types;
}

/// A row of the page's table: "| `/a/b`, `c` | f64[T] | ... |", or "| `/` attributes `d` | str |".
void read_line(const std::string& line, Types& types) {
  static const std::regex cells(R"(^\| (.*?) \| (.*?) \|(.*)\|$)");
  std::smatch cell;
  if (!std::regex_match(line, cell, cells)) return;
  std::vector<std::string> names = code_words(cell[1]);
  if (names.empty() || names[0][0] != '/') return;
  const std::vector<std::string> found = types_in(cell[2]);
  ASSERT_FALSE(found.empty()) << line;
  const bool of_attributes = cell[1].str().find("attribute") != std::string::npos;
  const std::string object = names[0], group = object.substr(0, object.rfind('/') + 1);
  if (of_attributes) names.erase(names.begin());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = of_attributes        ? place(object, names[i])
                             : names[i][0] == '/' ? names[i]
                                                  : group + names[i];
    EXPECT_TRUE(types.emplace(name, found[std::min(i, found.size() - 1)]).second) << name;
  }
  if (!of_attributes && cell[2].str().find("attribute `unit`") != std::string::npos)
    types.emplace(place(object, "unit"), "str");
}

Types types_of_page() {
  std::ifstream page(RESULTS_FORMAT_PAGE);
  Types types;
  for (std::string line; std::getline(page, line);) read_line(line, types);
  return types;
}

std::string element_of(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_STRING && H5Tis_variable_str(type) > 0 && H5Tget_cset(type) == H5T_CSET_UTF8)
    return "str";
  for (const auto& [known, name] :
       {std::pair{H5T_IEEE_F64LE, "f64"}, std::pair{H5T_STD_I32LE, "i32"},
        std::pair{H5T_STD_I64LE, "i64"}})
    if (H5Tequal(type, known) > 0) return name;
  return "?";
}

/// With numbers in the place of the table's letters.
std::string type_with_sizes(hid_t type, hid_t space) {
  std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  std::string text = element_of(type);
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i == 0 ? "[" : ", ") + std::to_string(shape[i]);
  return text + (shape.empty() ? "" : "]");
}

/// Those by which HDF5 knows dimension scales.
bool labels_dimensions(const std::string& name) {
  return name == "CLASS" || name == "NAME" || name == "DIMENSION_LIST" || name == "REFERENCE_LIST";
}

herr_t take_attribute(hid_t object, const char* name, const H5A_info_t*, void* types) {
  if (labels_dimensions(name)) return 0;
  const Hdf5Attribute attribute(H5Aopen(object, name, H5P_DEFAULT));
  const Hdf5Datatype type(H5Aget_type(attribute));
  const Hdf5Dataspace space(H5Aget_space(attribute));
  std::vector<char> path(256);
  H5Iget_name(object, path.data(), path.size());
  static_cast<Types*>(types)->emplace(place(path.data(), name), type_with_sizes(type, space));
  return 0;
}

herr_t take_object(hid_t file, const char* name, const H5O_info_t*, void* types) {
  const Hdf5Object object(H5Oopen(file, name, H5P_DEFAULT));
  H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, take_attribute, types);
  if (H5Iget_type(object) != H5I_DATASET) return 0;
  const Hdf5Datatype type(H5Dget_type(object));
  const Hdf5Dataspace space(H5Dget_space(object));
  static_cast<Types*>(types)->emplace("/" + std::string(name), type_with_sizes(type, space));
  return 0;
}

/// Everything that is in a file.
Types types_of_file(const std::filesystem::path& path) {
  const Hdf5Properties access = file_access();
  const Hdf5File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access));
  Types types;
  H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, take_object, &types);
  return types;
}

/// The tables' types with the sizes of a run of `rows` rows in the place of letters.
Types types_with_sizes(const ResultsLayout& layout, std::size_t rows, std::size_t events) {
  Types types;
  for (const ResultsDataset& dataset : results_datasets()) {
    if (!dataset.exists(layout)) continue;
    std::string text = type_text(dataset).substr(0, 4);
    for (const Extent extent : dataset.extents) {
      const std::size_t size = !grows(extent)           ? size_of(extent, layout)
                               : extent == Extent::runs ? 1
                               : extent == Extent::events
                                   ? events
                                   : rows - (extent == Extent::steps ? 1 : 0);
      text += (text.back() == '[' ? "" : ", ") + std::to_string(size);
    }
    types.emplace(dataset.path, text + "]");
  }
  for (const ResultsAttribute& attribute : results_attributes())
    types.emplace(place(attribute.object, attribute.name), type_text(attribute));
  return types;
}

void write_run(const std::filesystem::path& path, ExampleRun& run, std::size_t rows) {
  ResultsWriter writer(MPI_COMM_WORLD, path, run.layout);
  for (std::size_t row = 0; row < rows; ++row) run.append(writer, row);
  writer.close(RunStatus::completed, run.costs());
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

TEST(ResultsSchema, IsWhatTheFormatPageSays) {
  const Types page = types_of_page(), tables = types_of_tables();
  EXPECT_GT(tables.size(), 40u);
  for (const auto& [name, type] : tables)
    EXPECT_EQ(page.contains(name) ? page.at(name) : "not on the page", type) << name;
  for (const auto& [name, type] : page) EXPECT_TRUE(tables.contains(name)) << name << " is nowhere";
}

TEST(ResultsSchema, FileOfARunHasThatAndNothingElse) {
  const TestFolder folder;
  for (const bool everything : {true, false}) {
    ExampleRun run(MPI_COMM_WORLD, 5, everything);
    run.layout.balance.recorded = run.layout.states.recorded = everything;
    const auto path = folder / (everything ? "all.h5" : "some.h5");
    write_run(path, run, 12);
    EXPECT_EQ(types_of_file(path), types_with_sizes(run.layout, 12, 3));
  }
}

}  // namespace concord::test
