#include "record/virtual_rows.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>

#include "files/hdf5_io.hpp"
#include "support/hdf5_error.hpp"

namespace concord {
namespace {

using Extents = std::array<hsize_t, 3>;

/// Of a row; 1 where it has less dimensions.
Extents row_shape(const ResultsDataset& dataset, const ResultsLayout& layout) {
  Extents shape{1, 1, 1};
  for (std::size_t i = 1; i < dataset.extents.size(); ++i)
    shape[i] = size_of(dataset.extents[i], layout);
  return shape;
}

bool is_empty(const Extents& row) { return row[1] == 0; }

Lengths total(const ResultsParts& parts) {
  return std::accumulate(parts.lengths.begin(), parts.lengths.end(), Lengths());
}

/// Rows [first, first + count) of all columns; `count` may be H5S_UNLIMITED.
Hdf5Dataspace rows_in(int rank, Extents row, hsize_t first, hsize_t count) {
  const Extents start{first, 0, 0}, once{1, 1, 1};
  Extents now = row, most = row;
  now[0] = first + (count == H5S_UNLIMITED ? 0 : count);
  most[0] = H5S_UNLIMITED;
  row[0] = count;
  Hdf5Dataspace space(hdf5_check(H5Screate_simple(rank, now.data(), most.data())));
  hdf5_check(
      H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, once.data(), row.data()));
  return space;
}

/// That no row of a run has.
void fill_what_is_missing(hid_t creation, Number number) {
  constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
  constexpr std::int32_t no_count = -1;
  if (number == Number::f64)
    hdf5_check(H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &no_number));
  else if (number == Number::i32)
    hdf5_check(H5Pset_fill_value(creation, H5T_NATIVE_INT32, &no_count));
}

void map_parts(hid_t creation, const ResultsDataset& dataset, const ResultsParts& parts,
               const Extents& row) {
  const int rank = static_cast<int>(dataset.extents.size());
  hsize_t first = 0;
  for (std::size_t i = 0; i < parts.names.size(); ++i) {
    const bool last = i + 1 == parts.names.size();
    const hsize_t rows = length_of(dataset.extents[0], parts.lengths[i]);
    if (rows == 0 && !last) continue;
    const hsize_t count = last ? H5S_UNLIMITED : rows;
    hdf5_check(H5Pset_virtual(creation, rows_in(rank, row, first, count), parts.names[i].c_str(),
                              dataset.path.c_str(), rows_in(rank, row, 0, count)));
    first += rows;
  }
}

}  // namespace

void create_virtual_rows(hid_t file, const ResultsDataset& dataset, const ResultsLayout& layout,
                         hid_t type) {
  const Extents row = row_shape(dataset, layout);
  const int rank = static_cast<int>(dataset.extents.size());
  Extents now = row, most = row;
  now[0] = length_of(dataset.extents[0], total(layout.parts));
  most[0] = H5S_UNLIMITED;
  const Hdf5Properties creation(hdf5_check(H5Pcreate(H5P_DATASET_CREATE)));
  if (is_empty(row)) {
    hdf5_check(H5Pset_chunk(creation, rank, Extents{1, 1, 1}.data()));
    most[1] = H5S_UNLIMITED;
  } else {
    fill_what_is_missing(creation, dataset.number);
    map_parts(creation, dataset, layout.parts, row);
  }
  const Hdf5Dataspace space(hdf5_check(H5Screate_simple(rank, now.data(), most.data())));
  const Hdf5Dataset created(hdf5_check(
      H5Dcreate2(file, dataset.path.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT)));
}

void end_virtual_rows(hid_t file, const ResultsLayout& layout) {
  const Lengths all = total(layout.parts);
  for (const ResultsDataset& dataset : results_datasets()) {
    if (!dataset.exists(layout)) continue;
    const char* path = dataset.path.c_str();
    if (dataset.extents[0] == Extent::parts) {
      if (const auto* known = std::get_if<KnownNumbers>(&dataset.content))
        overwrite_dataset(file, path, known->of(layout));
    } else if (grows_within(dataset.extents[0]) && is_empty(row_shape(dataset, layout))) {
      resize_dataset(file, path, length_of(dataset.extents[0], all));
    }
  }
}

ResultsParts read_parts(hid_t file) {
  ResultsParts parts;
  if (!exists_in(file, "/parts")) return parts;
  parts.names = read_strings(file, "/parts/name");
  parts.lengths.resize(parts.names.size());
  const auto read = [&](const char* path, std::uint64_t Lengths::*length) {
    const std::vector<double> numbers = read_numbers(file, path);
    if (numbers.size() != parts.names.size())
      throw Hdf5Error(std::string("'") + path + "' has not one entry per part");
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!(numbers[i] >= 0.0 && numbers[i] < 1e15))
        throw Hdf5Error(std::string("'") + path + "' holds no numbers of rows");
      parts.lengths[i].*length = static_cast<std::uint64_t>(numbers[i]);
    }
  };
  read("/parts/rows", &Lengths::rows);
  read("/parts/steps", &Lengths::steps);
  read("/parts/events", &Lengths::events);
  if (exists_in(file, "/parts/texts")) read("/parts/texts", &Lengths::texts);
  return parts;
}

}  // namespace concord
