#include "record/recorded_rows.hpp"

#include <algorithm>
#include <array>

#include "files/hdf5_io.hpp"
#include "record/virtual_rows.hpp"
#include "support/hdf5_error.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

// No compression of HDF5 makes a block smaller than this: what a dataset claims to hold beyond it
// is not in the file.
constexpr hsize_t largest_compression = 1100;

void require_number(hid_t dataset, const std::string& path) {
  const Hdf5Datatype type(hdf5_check(H5Dget_type(dataset)));
  const H5T_class_t kind = H5Tget_class(type);
  if (kind != H5T_FLOAT && kind != H5T_INTEGER)
    throw Hdf5Error("'" + path + "' does not hold numbers");
}

/// A damaged or hostile file may claim any size; what it holds limits what is believed.
void require_backed(hid_t dataset, const std::vector<hsize_t>& shape, const std::string& path) {
  const long double stored =
      static_cast<long double>(H5Dget_storage_size(dataset)) * largest_compression;
  long double claimed = 1;
  for (const hsize_t extent : shape) claimed *= static_cast<long double>(extent);
  if (claimed > stored) throw Hdf5Error("'" + path + "' claims more values than the file holds");
}

Hdf5Dataset opened(hid_t file, const ResultsDataset& dataset) {
  return Hdf5Dataset(hdf5_check(H5Dopen2(file, dataset.path.c_str(), H5P_DEFAULT)));
}

std::vector<hsize_t> shape_in(hid_t file, const ResultsDataset& dataset) {
  const Hdf5Dataset numbers = opened(file, dataset);
  const std::vector<hsize_t> shape = shape_of(numbers);
  if (shape.size() != dataset.extents.size())
    throw Hdf5Error("'" + dataset.path + "' does not have " +
                    std::to_string(dataset.extents.size()) + " dimensions");
  require_number(numbers, dataset.path);
  require_backed(numbers, shape, dataset.path);
  return shape;
}

void read_in(hid_t file, const ResultsDataset& dataset, hsize_t first, hsize_t count,
             double* values) {
  const Hdf5Dataset numbers = opened(file, dataset);
  const Hdf5Dataspace in_file(hdf5_check(H5Dget_space(numbers)));
  std::vector<hsize_t> size = shape_of(numbers), start(size.size(), 0);
  start.front() = first;
  size.front() = count;
  hdf5_check(
      H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr));
  const Hdf5Dataspace in_memory(
      hdf5_check(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr)));
  hdf5_check(H5Dread(numbers, H5T_NATIVE_DOUBLE, in_memory, in_file, H5P_DEFAULT, values));
}

}  // namespace

RecordedRows::RecordedRows(hid_t file, const fs::path& path)
    : file_(file), folder_(path.parent_path()), parts_(read_parts(file)), begins_(1) {
  if (parts_.empty()) return;
  run_ = read_string_attribute(file, "run");
  for (const Lengths& lengths : parts_.lengths) begins_.push_back(begins_.back() + lengths);
  for (std::size_t i = 0; i < parts_.names.size(); ++i) in_part(i, [&] { require_whole(i); });
}

template <class Work>
void RecordedRows::in_part(std::size_t index, const Work& work) const {
  try {
    work();
  } catch (const Hdf5Error& error) {
    if (parts_.empty()) throw;
    throw Hdf5Error("its part '" + parts_.names[index] + "': " + error.what());
  }
}

/// One at a time is open.
hid_t RecordedRows::part(std::size_t index) const {
  if (parts_.empty()) return file_;
  if (opened_part_ && opened_ == index) return opened_part_;
  const fs::path path = folder_ / parts_.names[index];
  std::error_code error;
  if (!fs::exists(path, error)) throw Hdf5Error("it is missing");
  const Hdf5Properties access = file_access();
  opened_part_ = Hdf5File(hdf5_check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access)));
  opened_ = index;
  return opened_part_;
}

/// Of this run, and with the rows that it is said to have.
void RecordedRows::require_whole(std::size_t index) const {
  const hid_t file = part(index);
  if (read_string_attribute(file, "run") != run_) throw Hdf5Error("it is that of another run");
  for (const ResultsDataset& dataset : results_datasets()) {
    if (!grows_within(dataset.extents[0]) || !exists_in(file, dataset.path)) continue;
    const hsize_t rows = rows_of(file, dataset.path.c_str());
    const hsize_t wanted = length_of(dataset.extents[0], parts_.lengths[index]);
    if (rows < wanted)
      throw Hdf5Error("'" + dataset.path + "' has " + std::to_string(rows) + " rows, not " +
                      std::to_string(wanted));
  }
}

std::size_t RecordedRows::begin_of(std::size_t part, Extent extent) const {
  return length_of(extent, begins_[part]);
}

std::vector<std::size_t> RecordedRows::shape(const ResultsDataset& dataset) const {
  std::vector<std::size_t> result;
  const std::size_t count = std::max<std::size_t>(parts_.names.size(), 1);
  for (std::size_t i = 0; i < count; ++i)
    in_part(i, [&] {
      const std::vector<hsize_t> here = shape_in(part(i), dataset);
      if (i > 0 && !std::equal(here.begin() + 1, here.end(), result.begin() + 1))
        throw Hdf5Error("'" + dataset.path + "' has other columns");
      result.assign(here.begin(), here.end());
    });
  result.front() += begin_of(count - 1, dataset.extents[0]);
  return result;
}

void RecordedRows::read(const ResultsDataset& dataset, std::size_t first, std::size_t count,
                        std::size_t columns, double* values) const {
  const Extent extent = dataset.extents[0];
  const auto behind = [&](const std::size_t row, const Lengths& begin) {
    return row < length_of(extent, begin);
  };
  const std::size_t last_part = std::max<std::size_t>(parts_.names.size(), 1) - 1;
  const auto begins = std::span(begins_).first(last_part + 1);
  auto i = static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), first, behind) -
                                    begins.begin() - 1);
  for (std::size_t done = 0; done < count; ++i) {
    const std::size_t row = first + done, left = count - done;
    const std::size_t here = i == last_part ? left : std::min(left, begin_of(i + 1, extent) - row);
    if (here > 0)
      in_part(i, [&] {
        read_in(part(i), dataset, row - begin_of(i, extent), here, values + done * columns);
      });
    done += here;
  }
}

std::vector<std::string> RecordedRows::read_texts(const ResultsDataset& dataset) const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < std::max<std::size_t>(parts_.names.size(), 1); ++i)
    in_part(i, [&] {
      const bool last = i + 1 >= parts_.names.size();
      std::vector<std::string> here = read_strings(part(i), dataset.path.c_str());
      if (!last) here.resize(length_of(dataset.extents[0], parts_.lengths[i]));
      all.insert(all.end(), here.begin(), here.end());
    });
  return all;
}

}  // namespace concord
