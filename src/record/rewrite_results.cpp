#include <fcntl.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "files/hdf5_io.hpp"
#include "files/ordered_file.hpp"
#include "files/whole_file.hpp"
#include "record/dimension_labels.hpp"
#include "record/results_file.hpp"
#include "record/results_schema.hpp"
#include "record/virtual_rows.hpp"
#include "support/hdf5_error.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

constexpr hsize_t bytes_per_copy = hsize_t{4} << 20;

/// What is known at the end of a run: one that goes on writes it anew, and a kill while it was
/// written may have made it unreadable.
bool belongs_to_end(std::string_view name) {
  const auto all = results_attributes();
  return std::any_of(all.begin(), all.end(), [&](const ResultsAttribute& attribute) {
    return attribute.end != nullptr && attribute.name == name;
  });
}

herr_t copy_attribute(hid_t from, const char* name, const H5A_info_t* /*info*/, void* to) {
  if (labels_dimensions(name)) return 0;
  const Hdf5Attribute source(H5Aopen(from, name, H5P_DEFAULT));
  const Hdf5Datatype type(H5Aget_type(source));
  const Hdf5Dataspace space(H5Aget_space(source));
  const Hdf5Attribute copy(
      H5Acreate2(*static_cast<hid_t*>(to), name, type, space, H5P_DEFAULT, H5P_DEFAULT));
  std::array<std::byte, 64> value{};  // a number, or where a text is
  const bool good = H5Tget_size(type) <= value.size() && H5Aread(source, type, value.data()) >= 0 &&
                    H5Awrite(copy, type, value.data()) >= 0;
  if (H5Tis_variable_str(type) > 0) H5Dvlen_reclaim(type, space, H5P_DEFAULT, value.data());
  return good ? 0 : -1;
}

void copy_attributes(hid_t from, hid_t to) {
  hdf5_check(H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_INC, nullptr, copy_attribute, &to));
}

herr_t copy_early_attribute(hid_t from, const char* name, const H5A_info_t* info, void* to) {
  return belongs_to_end(name) ? 0 : copy_attribute(from, name, info, to);
}

/// Without what the end of a run says.
void copy_early_attributes(hid_t from, hid_t to) {
  hdf5_check(H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_INC, nullptr, copy_early_attribute, &to));
}

struct Shape {
  explicit Shape(hid_t dataset) {
    const Hdf5Dataspace space(hdf5_check(H5Dget_space(dataset)));
    rank = hdf5_check(H5Sget_simple_extent_ndims(space));
    hdf5_check(H5Sget_simple_extent_dims(space, now.data(), most.data()));
    const Hdf5Properties creation(hdf5_check(H5Dget_create_plist(dataset)));
    hdf5_check(H5Pget_chunk(creation, rank, chunk.data()));
  }
  hsize_t row_bytes() const {
    hsize_t bytes = sizeof(double);
    for (int i = 1; i < rank; ++i) bytes *= now[static_cast<std::size_t>(i)];
    return bytes;
  }

  int rank = 0;
  std::array<hsize_t, 3> now{}, most{}, chunk{};
};

Hdf5Dataset create_like(hid_t file, const char* path, hid_t type, const Shape& shape,
                        int compression) {
  const Hdf5Properties creation(hdf5_check(H5Pcreate(H5P_DATASET_CREATE)));
  hdf5_check(H5Pset_chunk(creation, shape.rank, shape.chunk.data()));
  hdf5_check(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER));
  if (compression > 0) {
    hdf5_check(H5Pset_shuffle(creation));
    hdf5_check(H5Pset_deflate(creation, static_cast<unsigned>(compression)));
  } else {
    hdf5_check(H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY));
  }
  const Hdf5Dataspace space(
      hdf5_check(H5Screate_simple(shape.rank, shape.now.data(), shape.most.data())));
  return Hdf5Dataset(
      hdf5_check(H5Dcreate2(file, path, type, space, H5P_DEFAULT, creation, H5P_DEFAULT)));
}

/// Whole chunks at a time.
void copy_rows(hid_t from, hid_t to, hid_t type, const Shape& shape) {
  const hsize_t bytes = shape.row_bytes();
  if (bytes == 0) return;
  const hsize_t chunks = std::max<hsize_t>(bytes_per_copy / (bytes * shape.chunk[0]), 1);
  std::vector<std::byte> block(chunks * shape.chunk[0] * bytes);
  std::array<hsize_t, 3> start{}, size = shape.now;
  for (hsize_t first = 0; first < shape.now[0]; first += size[0]) {
    start[0] = first;
    size[0] = std::min(chunks * shape.chunk[0], shape.now[0] - first);
    const Hdf5Dataspace memory(hdf5_check(H5Screate_simple(shape.rank, size.data(), nullptr)));
    const Hdf5Dataspace file(hdf5_check(H5Dget_space(from)));
    hdf5_check(
        H5Sselect_hyperslab(file, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr));
    hdf5_check(H5Dread(from, type, memory, file, H5P_DEFAULT, block.data()));
    hdf5_check(H5Dwrite(to, type, memory, file, H5P_DEFAULT, block.data()));
  }
}

void copy_numbers(hid_t from, hid_t to, const char* path, hsize_t rows, int compression) {
  const Hdf5Dataset source(hdf5_check(H5Dopen2(from, path, H5P_DEFAULT)));
  const Hdf5Datatype type(hdf5_check(H5Dget_type(source)));
  Shape shape(source);
  shape.now[0] = rows;
  const Hdf5Dataset copy = create_like(to, path, type, shape, compression);
  copy_rows(source, copy, type, shape);
  copy_attributes(source, copy);
}

void copy_texts(hid_t from, hid_t to, const ResultsDataset& dataset, const ResultsLayout& layout,
                hsize_t rows) {
  const char* path = dataset.path.c_str();
  create_dataset(to, dataset, layout);
  append_strings(to, path, 0, read_strings(from, path, rows));
}

/// H5Ocopy does not survive a file that cannot be read.
void copy_whole(hid_t from, hid_t to, const char* path) {
  const Hdf5Dataset source(hdf5_check(H5Dopen2(from, path, H5P_DEFAULT)));
  const Hdf5Datatype type(hdf5_check(H5Dget_type(source)));
  const Hdf5Dataspace space(hdf5_check(H5Dget_space(source)));
  const Hdf5Properties creation(hdf5_check(H5Dget_create_plist(source)));
  const Hdf5Dataset copy(
      hdf5_check(H5Dcreate2(to, path, type, space, H5P_DEFAULT, creation, H5P_DEFAULT)));
  const auto size = static_cast<std::size_t>(hdf5_check(H5Sget_simple_extent_npoints(space)));
  std::vector<std::byte> values(size * H5Tget_size(type));
  if (size > 0) {
    hdf5_check(H5Dread(source, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
    const herr_t written = H5Dwrite(copy, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    if (H5Tis_variable_str(type) > 0) H5Dvlen_reclaim(type, space, H5P_DEFAULT, values.data());
    hdf5_check(written);
  }
  copy_attributes(source, copy);
}

/// In the place of rows of its own, those of parts.
void show_rows(hid_t from, hid_t to, const ResultsDataset& dataset, const ResultsLayout& layout) {
  const Hdf5Dataset source(hdf5_check(H5Dopen2(from, dataset.path.c_str(), H5P_DEFAULT)));
  const Hdf5Datatype type(hdf5_check(H5Dget_type(source)));
  create_virtual_rows(to, dataset, layout, type);
  copy_attributes(source, Hdf5Dataset(hdf5_check(H5Dopen2(to, dataset.path.c_str(), H5P_DEFAULT))));
}

/// What a file that is written anew has of the one before.
struct Copied {
  int compression = 0;
  std::optional<Lengths> left{};  ///< nothing: all
  enum class As { it_is, that_of_run_that_goes_on, interrupted } as = As::it_is;

  hsize_t rows_of(hid_t from, const ResultsDataset& dataset) const {
    const Extent extent = dataset.extents[0];
    return left && grows_within(extent) ? length_of(extent, *left)
                                        : concord::rows_of(from, dataset.path.c_str());
  }
};

void copy_dataset(hid_t from, hid_t to, const ResultsDataset& dataset, const ResultsLayout& layout,
                  const Copied& copied) {
  if (dataset.extents[0] == Extent::parts)
    create_dataset(to, dataset, layout);
  else if (grows_within(dataset.extents[0]) && !layout.parts.empty())
    show_rows(from, to, dataset, layout);
  else if (dataset.grows() && dataset.number == Number::text)
    copy_texts(from, to, dataset, layout, copied.rows_of(from, dataset));
  else if (dataset.grows())
    copy_numbers(from, to, dataset.path.c_str(), copied.rows_of(from, dataset), copied.compression);
  else if (exists_in(from, dataset.path))  // an older file may lack it
    copy_whole(from, to, dataset.path.c_str());
}

void copy_results(hid_t from, hid_t to, const ResultsLayout& layout, const Copied& copied) {
  for (const ResultsDataset& dataset : results_datasets()) {
    if (!dataset.exists(layout)) continue;
    create_group(to, dataset.group());
    copy_dataset(from, to, dataset, layout, copied);
  }
  label_dimensions(to, layout);
  if (copied.as == Copied::As::it_is) return copy_attributes(from, to);
  copy_early_attributes(from, to);
  if (copied.as == Copied::As::interrupted) return begin_end_attributes(to, layout, "interrupted");
  enter_run(to, layout);
}

}  // namespace

namespace {

/// `write` makes the file that takes the place of the one at `path`, under the name that it is
/// given.
template <class Write>
void put_in_place(const fs::path& path, const Write& write) {
  const fs::path unfinished = unfinished_name(path);
  try {
    write(unfinished);
    SystemFile(unfinished, O_RDWR).sync();
    fs::rename(unfinished, path);
    sync_folder_of(path);
  } catch (...) {
    std::error_code ignored;
    fs::remove(unfinished, ignored);
    throw;
  }
}

}  // namespace

namespace {

void write_anew(const fs::path& from_path, const fs::path& to_path, const ResultsLayout& layout,
                const Copied& copied) {
  put_in_place(to_path, [&](const fs::path& unfinished) {
    const Hdf5Properties access = file_access();
    const Hdf5File from(hdf5_check(H5Fopen(from_path.c_str(), H5F_ACC_RDONLY, access)));
    // Room is claimed while HDF5 has no file open that it could not close without any, and again
    // once it has emptied that file.
    const std::uintmax_t room = fs::file_size(from_path) + end_bytes;
    SystemFile(unfinished, O_WRONLY | O_CREAT | O_TRUNC).close();
    reserve_space(unfinished, room);
    Hdf5File to(hdf5_check(H5Fcreate(unfinished.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access)));
    reserve_space(unfinished, room);
    copy_results(from, to, layout, copied);
    close_in_order(to);
  });
}

}  // namespace

void rewrite_results(const fs::path& path, const ResultsLayout& layout, int compression) {
  write_anew(path, path, layout, {compression});
}

void continue_results(const fs::path& from, const fs::path& to, const ResultsLayout& layout,
                      const ResultsPosition& left) {
  write_anew(from, to, layout, {0, left.lengths, Copied::As::that_of_run_that_goes_on});
}

void salvage_results(const fs::path& from, const fs::path& to, const ResultsLayout& layout,
                     const Lengths& left) {
  write_anew(from, to, layout, {0, left, Copied::As::interrupted});
}

void show_parts(const fs::path& path, const ResultsLayout& layout, bool goes_on) {
  put_in_place(path, [&](const fs::path& unfinished) {
    const Hdf5Properties access = file_access();
    const Hdf5File from(hdf5_check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access)));
    const Hdf5File to = file_in_memory();
    copy_results(from, to, layout,
                 {0, {}, goes_on ? Copied::As::that_of_run_that_goes_on : Copied::As::it_is});
    write_file(unfinished, image_of(to));
    reserve_room_for_end(unfinished);
  });
}

}  // namespace concord
