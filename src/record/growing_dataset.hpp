#pragma once

#include <array>

#include "support/hdf5_handle.hpp"

namespace concord {

/// A dataset [rows], [rows, columns] or [rows, columns, inner] that grows in rows. Members throw
/// Hdf5Error and are collective when the file was opened by several ranks.
class GrowingDataset {
 public:
  GrowingDataset(hid_t file, const char* path);

  void resize(hsize_t rows);

  /// At most so many bytes does the file grow by when the dataset grows to `rows` rows.
  hsize_t growth(hsize_t rows) const;

  /// Writes rows [first, first + count) from `values` of native type `type`; count may be zero.
  void write(hid_t type, hsize_t first, hsize_t count, const void* values, hid_t transfer) const;

 private:
  Hdf5Dataset dataset_;
  int rank_ = 0;
  std::array<hsize_t, 3> shape_{}, chunk_{};
  hsize_t element_bytes_ = 0;
};

}  // namespace concord
