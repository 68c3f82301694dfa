#include "record/growing_dataset.hpp"

#include <algorithm>

#include "support/hdf5_error.hpp"

namespace concord {

GrowingDataset::GrowingDataset(hid_t file, const char* path)
    : dataset_(hdf5_check(H5Dopen2(file, path, H5P_DEFAULT))) {
  const Hdf5Dataspace space(hdf5_check(H5Dget_space(dataset_)));
  rank_ = hdf5_check(H5Sget_simple_extent_ndims(space));
  hdf5_check(H5Sget_simple_extent_dims(space, shape_.data(), nullptr));
  const Hdf5Properties creation(hdf5_check(H5Dget_create_plist(dataset_)));
  hdf5_check(H5Pget_chunk(creation, rank_, chunk_.data()));
  const Hdf5Datatype type(hdf5_check(H5Dget_type(dataset_)));
  element_bytes_ = H5Tget_size(type);
}

hsize_t GrowingDataset::growth(hsize_t rows) const {
  constexpr hsize_t index_bytes = 16384, index_bytes_per_chunk = 512;  // B-tree nodes, generously
  const auto pieces = [](hsize_t length, hsize_t piece) { return (length + piece - 1) / piece; };
  hsize_t chunks =
      pieces(rows, chunk_[0]) - std::min(pieces(rows, chunk_[0]), pieces(shape_[0], chunk_[0]));
  hsize_t bytes = element_bytes_ * chunk_[0];
  for (std::size_t i = 1; i < static_cast<std::size_t>(rank_); ++i) {
    chunks *= pieces(shape_[i], chunk_[i]);
    bytes *= chunk_[i];
  }
  return chunks == 0 ? 0 : index_bytes + chunks * (bytes + index_bytes_per_chunk);
}

void GrowingDataset::resize(hsize_t rows) {
  shape_[0] = rows;
  hdf5_check(H5Dset_extent(dataset_, shape_.data()));
}

void GrowingDataset::write(hid_t type, hsize_t first, hsize_t count, const void* values,
                           hid_t transfer) const {
  if (std::count(shape_.begin(), shape_.begin() + rank_, hsize_t{0}) > 0) return;
  const Hdf5Dataspace in_file(hdf5_check(H5Dget_space(dataset_)));
  const std::array<hsize_t, 3> start{first, 0, 0};
  std::array<hsize_t, 3> size = shape_;
  size[0] = std::max<hsize_t>(count, 1);
  const Hdf5Dataspace in_memory(hdf5_check(H5Screate_simple(rank_, size.data(), nullptr)));
  if (count == 0) {
    hdf5_check(H5Sselect_none(in_file));
    hdf5_check(H5Sselect_none(in_memory));
  } else {
    hdf5_check(
        H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr));
  }
  hdf5_check(H5Dwrite(dataset_, type, in_memory, in_file, transfer, values));
}

}  // namespace concord
