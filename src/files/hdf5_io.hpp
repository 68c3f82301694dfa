#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "support/hdf5_handle.hpp"

namespace concord {

// Small pieces of HDF5 files written by one rank. Everything here throws Hdf5Error on failure.

/// Variable-length UTF-8 string; h5py reads it as str.
Hdf5Datatype utf8_string_type();

/// File access by write_in_order, without chunk cache (rows go straight to the file) and without
/// file lock (a running simulation's file can be read, also from read-only file systems).
Hdf5Properties file_access();

/// Whether it has the signature of one.
bool is_hdf5_file(const std::filesystem::path& path);

/// A file in memory, and its bytes, where they lie as long as it is open and nothing is written:
/// what is written to disk as they are meets a full disk outside of HDF5, which does not survive
/// one.
Hdf5File file_in_memory();
std::span<const std::byte> image_of(hid_t file);
/// The file of which these are the bytes, for reading; they are copied.
Hdf5File file_of_image(std::span<const std::byte> image);

void write_attribute(hid_t object, const char* name, const std::string& value);
void write_attribute(hid_t object, const char* name, std::int32_t value);
void write_attribute(hid_t object, const char* name, std::int64_t value);
void write_attribute(hid_t object, const char* name, double value);
/// Gives an existing attribute another value.
void overwrite_attribute(hid_t object, const char* name, const std::string& value);
void overwrite_attribute(hid_t object, const char* name, std::int32_t value);
void overwrite_attribute(hid_t object, const char* name, std::int64_t value);
void overwrite_attribute(hid_t object, const char* name, double value);

/// Creates and fills the one-dimensional dataset at `path`.
void write_dataset(hid_t file, const char* path, std::span<const std::string> values);
void write_dataset(hid_t file, const char* path, hid_t stored, std::span<const double> values);
void write_bytes(hid_t file, const char* path, std::span<const std::byte> bytes);
std::vector<std::byte> read_bytes(hid_t file, const char* path);
/// Gives an existing dataset other values.
void overwrite_dataset(hid_t file, const char* path, std::span<const double> values);

/// Appends to the one-dimensional dataset of strings at `path`, whose first `size` count.
void append_strings(hid_t file, const char* path, hsize_t size,
                    std::span<const std::string> values);

/// Whether the file has the dataset at `path`, which begins with '/'.
bool exists_in(hid_t file, const std::string& path);

/// With those it lies in; "" and one that is there: nothing to do.
void create_group(hid_t file, const std::string& path);
std::vector<hsize_t> shape_of(hid_t dataset);
/// The first extent of the dataset at `path`; and another one.
hsize_t rows_of(hid_t file, const char* path);
void resize_dataset(hid_t file, const char* path, hsize_t rows);

/// Whether the file has a place for so many rows; of compressed ones that cannot be told by its
/// size.
bool has_place_for(hid_t dataset, hsize_t rows);

/// Value of a scalar string attribute.
std::string read_string_attribute(hid_t object, const char* name);
/// Values of a one-dimensional dataset of numbers.
std::vector<double> read_numbers(hid_t file, const char* path);
/// Values of a one-dimensional dataset of strings; its first `count`.
std::vector<std::string> read_strings(hid_t file, const char* path);
std::vector<std::string> read_strings(hid_t file, const char* path, hsize_t count);

}  // namespace concord
