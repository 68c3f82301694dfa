#include "files/hdf5_io.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "concord/errors.hpp"
#include "files/ordered_file.hpp"
#include "files/whole_file.hpp"
#include "support/hdf5_error.hpp"

namespace concord {
namespace {

/// Strings that HDF5 allocated; given back to it whatever happens.
class StringsFromHdf5 {
 public:
  StringsFromHdf5(hid_t type, hid_t space, std::size_t size)
      : type_(type), space_(space), strings_(size, nullptr) {}
  ~StringsFromHdf5() { H5Dvlen_reclaim(type_, space_, H5P_DEFAULT, strings_.data()); }
  StringsFromHdf5(const StringsFromHdf5&) = delete;
  StringsFromHdf5& operator=(const StringsFromHdf5&) = delete;

  char** data() { return strings_.data(); }
  std::vector<std::string> copy() const {
    std::vector<std::string> result;
    result.reserve(strings_.size());
    for (const char* s : strings_) result.emplace_back(s == nullptr ? "" : s);
    return result;
  }

 private:
  hid_t type_, space_;
  std::vector<char*> strings_;
};

void require_variable_length_string(hid_t type, const char* name) {
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) <= 0)
    throw Hdf5Error(std::string("'") + name + "' does not hold variable-length strings");
}

/// The memory type must have the character set of the file's: HDF5 converts no other way.
Hdf5Datatype string_type_like(hid_t file_type) {
  Hdf5Datatype type(hdf5_check(H5Tcopy(H5T_C_S1)));
  hdf5_check(H5Tset_size(type, H5T_VARIABLE));
  hdf5_check(H5Tset_cset(type, H5Tget_cset(file_type)));
  return type;
}

void write_number(hid_t object, const char* name, hid_t stored, hid_t native, const void* value) {
  const Hdf5Dataspace space(hdf5_check(H5Screate(H5S_SCALAR)));
  const Hdf5Attribute attribute(
      hdf5_check(H5Acreate2(object, name, stored, space, H5P_DEFAULT, H5P_DEFAULT)));
  hdf5_check(H5Awrite(attribute, native, value));
}

void overwrite_number(hid_t object, const char* name, hid_t native, const void* value) {
  const Hdf5Attribute attribute(hdf5_check(H5Aopen(object, name, H5P_DEFAULT)));
  hdf5_check(H5Awrite(attribute, native, value));
}

/// HDF5 clears two buffers for each writing of strings, of 1 MiB each unless it is told otherwise.
Hdf5Properties with_small_buffers() {
  constexpr std::size_t small = std::size_t{1} << 14;
  Hdf5Properties transfer(hdf5_check(H5Pcreate(H5P_DATASET_XFER)));
  hdf5_check(H5Pset_buffer(transfer, small, nullptr, nullptr));
  return transfer;
}

void write_whole(hid_t file, const char* path, hid_t stored, hid_t native, hsize_t size,
                 const void* values) {
  const Hdf5Dataspace space(hdf5_check(H5Screate_simple(1, &size, nullptr)));
  const Hdf5Properties creation(hdf5_check(H5Pcreate(H5P_DATASET_CREATE)));
  hdf5_check(H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY));
  const Hdf5Dataset dataset(
      hdf5_check(H5Dcreate2(file, path, stored, space, H5P_DEFAULT, creation, H5P_DEFAULT)));
  if (size > 0)
    hdf5_check(H5Dwrite(dataset, native, H5S_ALL, H5S_ALL, with_small_buffers(), values));
}

std::vector<const char*> pointers_to(std::span<const std::string> values) {
  std::vector<const char*> texts;
  texts.reserve(values.size());
  for (const std::string& value : values) texts.push_back(value.c_str());
  return texts;
}

}  // namespace

Hdf5Datatype utf8_string_type() {
  Hdf5Datatype type(hdf5_check(H5Tcopy(H5T_C_S1)));
  hdf5_check(H5Tset_size(type, H5T_VARIABLE));
  hdf5_check(H5Tset_cset(type, H5T_CSET_UTF8));
  return type;
}

namespace {

Hdf5Properties access_by_any_driver() {
  Hdf5Properties access(hdf5_check(H5Pcreate(H5P_FILE_ACCESS)));
  // Superblock 0 has no "open for writing" mark, so a killed program's file opens like any other.
  hdf5_check(H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V110));
  hdf5_check(H5Pset_cache(access, 0, 0, 0, 0.75));
  hdf5_check(H5Pset_file_locking(access, false, true));
  // Nothing is set aside for small pieces: a flush would give it back and cut the file.
  hdf5_check(H5Pset_meta_block_size(access, 0));
  hdf5_check(H5Pset_small_data_block_size(access, 0));
  return access;
}

/// What lies in memory needs little beside it: texts of many variables would all be there twice.
void keep_little_beside(const Hdf5Properties& access) {
  constexpr std::size_t little = std::size_t{1} << 20;
  H5AC_cache_config_t cache{};
  cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  hdf5_check(H5Pget_mdc_config(access, &cache));
  cache.set_initial_size = true;
  cache.initial_size = cache.max_size = cache.min_size = little;
  cache.incr_mode = H5C_incr__off;
  cache.flash_incr_mode = H5C_flash_incr__off;
  cache.decr_mode = H5C_decr__off;
  hdf5_check(H5Pset_mdc_config(access, &cache));
}

Hdf5Properties memory_access() {
  Hdf5Properties access = access_by_any_driver();
  keep_little_beside(access);
  hdf5_check(H5Pset_fapl_core(access, std::size_t{1} << 16, false));
  return access;
}

}  // namespace

Hdf5Properties file_access() {
  Hdf5Properties access = access_by_any_driver();
  write_in_order(access);
  return access;
}

/// It lies at 0, 512, 1024, 2048, ... (HDF5 File Format Specification 3.0, II.A).
bool is_hdf5_file(const std::filesystem::path& path) try {
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
  constexpr off_t second_place = 512;
  const SystemFile file(path, O_RDONLY);
  std::array<char, signature.size()> found{};
  for (off_t place = 0;; place = std::max(2 * place, second_place)) {
    const ssize_t count =
        uninterrupted([&] { return pread(file, found.data(), found.size(), place); });
    if (count < 0) throw std::system_error(errno, std::generic_category());
    if (static_cast<std::size_t>(count) < found.size()) return false;
    if (std::string_view(found.data(), found.size()) == signature) return true;
  }
} catch (const std::system_error& failure) {
  throw Hdf5SystemError(failure.code().message());
}

namespace {

/// HDF5 tells files in memory apart by their names.
std::string unused_memory_name() {
  static std::atomic<std::size_t> used{0};
  return "memory" + std::to_string(++used);
}

}  // namespace

Hdf5File file_in_memory() {
  const Hdf5Properties access = memory_access();
  return Hdf5File(
      hdf5_check(H5Fcreate(unused_memory_name().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access)));
}

std::span<const std::byte> image_of(hid_t file) {
  hdf5_check(H5Fflush(file, H5F_SCOPE_LOCAL));
  void* bytes = nullptr;
  hdf5_check(H5Fget_vfd_handle(file, H5P_DEFAULT, &bytes));
  const auto size = static_cast<std::size_t>(hdf5_check(H5Fget_file_image(file, nullptr, 0)));
  return {*static_cast<const std::byte* const*>(bytes), size};
}

Hdf5File file_of_image(std::span<const std::byte> image) {
  const Hdf5Properties access = memory_access();
  void* const bytes = const_cast<std::byte*>(image.data());  // HDF5 reads it only
  hdf5_check(H5Pset_file_image(access, bytes, image.size()));
  return Hdf5File(hdf5_check(H5Fopen(unused_memory_name().c_str(), H5F_ACC_RDONLY, access)));
}

void write_bytes(hid_t file, const char* path, std::span<const std::byte> bytes) {
  write_whole(file, path, H5T_STD_U8LE, H5T_NATIVE_UINT8, bytes.size(), bytes.data());
}

std::vector<std::byte> read_bytes(hid_t file, const char* path) {
  const Hdf5Dataset dataset(hdf5_check(H5Dopen2(file, path, H5P_DEFAULT)));
  std::vector<std::byte> bytes(shape_of(dataset).at(0));
  hdf5_check(H5Dread(dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()));
  return bytes;
}

void write_attribute(hid_t object, const char* name, const std::string& value) {
  const Hdf5Datatype type = utf8_string_type();
  const Hdf5Dataspace space(hdf5_check(H5Screate(H5S_SCALAR)));
  const Hdf5Attribute attribute(
      hdf5_check(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT)));
  const char* text = value.c_str();
  hdf5_check(H5Awrite(attribute, type, &text));
}

void write_attribute(hid_t object, const char* name, std::int32_t value) {
  write_number(object, name, H5T_STD_I32LE, H5T_NATIVE_INT32, &value);
}

void write_attribute(hid_t object, const char* name, std::int64_t value) {
  write_number(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

void write_attribute(hid_t object, const char* name, double value) {
  write_number(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

void overwrite_attribute(hid_t object, const char* name, std::int32_t value) {
  overwrite_number(object, name, H5T_NATIVE_INT32, &value);
}

void overwrite_attribute(hid_t object, const char* name, std::int64_t value) {
  overwrite_number(object, name, H5T_NATIVE_INT64, &value);
}

void overwrite_attribute(hid_t object, const char* name, double value) {
  overwrite_number(object, name, H5T_NATIVE_DOUBLE, &value);
}

void overwrite_attribute(hid_t object, const char* name, const std::string& value) {
  const Hdf5Datatype type = utf8_string_type();
  const Hdf5Attribute attribute(hdf5_check(H5Aopen(object, name, H5P_DEFAULT)));
  const char* text = value.c_str();
  hdf5_check(H5Awrite(attribute, type, &text));
}

void write_dataset(hid_t file, const char* path, std::span<const std::string> values) {
  const std::vector<const char*> texts = pointers_to(values);
  const Hdf5Datatype type = utf8_string_type();
  write_whole(file, path, type, type, values.size(), texts.data());
}

void append_strings(hid_t file, const char* path, hsize_t size,
                    std::span<const std::string> values) {
  const std::vector<const char*> texts = pointers_to(values);
  const Hdf5Dataset dataset(hdf5_check(H5Dopen2(file, path, H5P_DEFAULT)));
  const hsize_t count = values.size(), whole = size + count;
  hdf5_check(H5Dset_extent(dataset, &whole));
  if (count == 0) return;
  const Hdf5Dataspace in_file(hdf5_check(H5Dget_space(dataset)));
  hdf5_check(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &size, nullptr, &count, nullptr));
  const Hdf5Dataspace in_memory(hdf5_check(H5Screate_simple(1, &count, nullptr)));
  hdf5_check(H5Dwrite(dataset, utf8_string_type(), in_memory, in_file, with_small_buffers(),
                      texts.data()));
}

void write_dataset(hid_t file, const char* path, hid_t stored, std::span<const double> values) {
  write_whole(file, path, stored, H5T_NATIVE_DOUBLE, values.size(), values.data());
}

void overwrite_dataset(hid_t file, const char* path, std::span<const double> values) {
  const Hdf5Dataset dataset(hdf5_check(H5Dopen2(file, path, H5P_DEFAULT)));
  hdf5_check(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
}

std::vector<hsize_t> shape_of(hid_t dataset) {
  const Hdf5Dataspace space(hdf5_check(H5Dget_space(dataset)));
  std::vector<hsize_t> shape(
      static_cast<std::size_t>(hdf5_check(H5Sget_simple_extent_ndims(space))));
  hdf5_check(H5Sget_simple_extent_dims(space, shape.data(), nullptr));
  return shape;
}

bool exists_in(hid_t file, const std::string& path) {
  const std::string group = path.substr(0, path.rfind('/'));
  return (group.empty() || exists_in(file, group)) &&
         hdf5_check(H5Lexists(file, path.c_str(), H5P_DEFAULT)) > 0;
}

void create_group(hid_t file, const std::string& path) {
  if (path.empty() || exists_in(file, path)) return;
  create_group(file, path.substr(0, path.rfind('/')));
  const Hdf5Group group(
      hdf5_check(H5Gcreate2(file, path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
}

hsize_t rows_of(hid_t file, const char* path) {
  const Hdf5Dataset dataset(hdf5_check(H5Dopen2(file, path, H5P_DEFAULT)));
  return shape_of(dataset).at(0);
}

bool has_place_for(hid_t dataset, hsize_t rows) {
  const Hdf5Properties creation(hdf5_check(H5Dget_create_plist(dataset)));
  if (H5Pget_layout(creation) != H5D_CHUNKED || H5Pget_nfilters(creation) > 0) return true;
  const std::vector<hsize_t> shape = shape_of(dataset);
  std::vector<hsize_t> chunk(shape.size());
  hdf5_check(H5Pget_chunk(creation, static_cast<int>(chunk.size()), chunk.data()));
  const Hdf5Datatype type(hdf5_check(H5Dget_type(dataset)));
  hsize_t bytes = H5Tget_size(type);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const hsize_t length = i == 0 ? rows : shape[i];
    bytes *= (length + chunk[i] - 1) / chunk[i] * chunk[i];
  }
  return H5Dget_storage_size(dataset) >= bytes;
}

void resize_dataset(hid_t file, const char* path, hsize_t rows) {
  const Hdf5Dataset dataset(hdf5_check(H5Dopen2(file, path, H5P_DEFAULT)));
  std::vector<hsize_t> shape = shape_of(dataset);
  shape.at(0) = rows;
  hdf5_check(H5Dset_extent(dataset, shape.data()));
}

std::string read_string_attribute(hid_t object, const char* name) {
  const Hdf5Attribute attribute(hdf5_check(H5Aopen(object, name, H5P_DEFAULT)));
  const Hdf5Datatype file_type(hdf5_check(H5Aget_type(attribute)));
  require_variable_length_string(file_type, name);
  const Hdf5Dataspace space(hdf5_check(H5Aget_space(attribute)));
  if (H5Sget_simple_extent_npoints(space) != 1)
    throw Hdf5Error(std::string("attribute '") + name + "' is not a single value");
  const Hdf5Datatype type = string_type_like(file_type);
  StringsFromHdf5 text(type, space, 1);
  hdf5_check(H5Aread(attribute, type, text.data()));
  return text.copy().front();
}

std::vector<double> read_numbers(hid_t file, const char* path) {
  const Hdf5Dataset dataset(hdf5_check(H5Dopen2(file, path, H5P_DEFAULT)));
  const std::vector<hsize_t> shape = shape_of(dataset);
  const Hdf5Datatype type(hdf5_check(H5Dget_type(dataset)));
  if (shape.size() != 1 || H5Tget_class(type) == H5T_STRING)
    throw Hdf5Error(std::string("'") + path + "' is not a list of numbers");
  if (shape[0] > H5Dget_storage_size(dataset))
    throw Hdf5Error(std::string("'") + path + "' claims more numbers than it holds");
  std::vector<double> values(shape[0]);
  if (!values.empty())
    hdf5_check(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
  return values;
}

std::vector<std::string> read_strings(hid_t file, const char* path) {
  return read_strings(file, path, rows_of(file, path));
}

std::vector<std::string> read_strings(hid_t file, const char* path, hsize_t count) {
  const Hdf5Dataset dataset(hdf5_check(H5Dopen2(file, path, H5P_DEFAULT)));
  const Hdf5Datatype file_type(hdf5_check(H5Dget_type(dataset)));
  require_variable_length_string(file_type, path);
  const std::vector<hsize_t> shape = shape_of(dataset);
  if (shape.size() != 1) throw Hdf5Error(std::string("'") + path + "' is not one-dimensional");
  // A string takes 16 bytes in the file; a larger claim is not backed by anything.
  if (count > shape[0] || count > H5Dget_storage_size(dataset) / 16)
    throw Hdf5Error(std::string("'") + path + "' claims more strings than it holds");
  if (count == 0) return {};
  const Hdf5Datatype type = string_type_like(file_type);
  const Hdf5Dataspace in_file(hdf5_check(H5Dget_space(dataset)));
  const hsize_t first = 0;
  hdf5_check(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &first, nullptr, &count, nullptr));
  const Hdf5Dataspace in_memory(hdf5_check(H5Screate_simple(1, &count, nullptr)));
  StringsFromHdf5 strings(type, in_memory, count);
  hdf5_check(H5Dread(dataset, type, in_memory, in_file, H5P_DEFAULT, strings.data()));
  return strings.copy();
}

}  // namespace concord
