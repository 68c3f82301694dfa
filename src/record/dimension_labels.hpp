#pragma once

#include <string_view>

#include "record/results_content.hpp"
#include "support/hdf5_handle.hpp"

namespace concord {

/// By which others know what rows and columns stand for (netCDF's way: HDF5 dimension scales).
/// Throws Hdf5Error.
void label_dimensions(hid_t file, const ResultsLayout& layout);

/// Whether an attribute of this name is one of those labels.
bool labels_dimensions(std::string_view attribute);

}  // namespace concord
