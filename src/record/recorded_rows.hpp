#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "record/results_schema.hpp"
#include "support/hdf5_handle.hpp"

namespace concord {

/// The rows of a results file, wherever they are: in itself, or in its parts. HDF5's virtual
/// datasets give fill values for parts that are missing; here each part is looked at. Throws
/// Hdf5Error, which names the part.
class RecordedRows {
 public:
  RecordedRows() = default;
  /// `file` is the open results file at `path` and outlives this.
  RecordedRows(hid_t file, const std::filesystem::path& path);

  /// [rows] or [rows, columns] of the dataset, which holds as many as it claims. Where a run goes
  /// on, or was killed, datasets may differ in length.
  std::vector<std::size_t> shape(const ResultsDataset& dataset) const;

  /// Rows [first, first + count) of `columns` numbers each, row-major.
  void read(const ResultsDataset& dataset, std::size_t first, std::size_t count,
            std::size_t columns, double* values) const;
  std::vector<std::string> read_texts(const ResultsDataset& dataset) const;

 private:
  hid_t part(std::size_t index) const;
  template <class Work>
  void in_part(std::size_t index, const Work& work) const;
  std::size_t begin_of(std::size_t part, Extent extent) const;
  void require_whole(std::size_t index) const;

  hid_t file_ = H5I_INVALID_HID;
  std::filesystem::path folder_;
  ResultsParts parts_;  ///< none: the file itself
  std::string run_;
  std::vector<Lengths> begins_;
  mutable std::size_t opened_ = 0;  ///< which part
  mutable Hdf5File opened_part_;
};

}  // namespace concord
