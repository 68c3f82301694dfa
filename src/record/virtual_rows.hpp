#pragma once

#include "record/results_schema.hpp"
#include "support/hdf5_handle.hpp"

namespace concord {

// A results file above parts (layout.parts) shows their rows as its own: HDF5's virtual datasets.
// What is missing of parts reads as NaN and -1. Everything here throws Hdf5Error.

/// A dataset with the rows of all parts, one after the other. The last part may grow.
void create_virtual_rows(hid_t file, const ResultsDataset& dataset, const ResultsLayout& layout,
                         hid_t type);

/// No part grows any more: how much each holds, and the rows of tables without columns, which no
/// part can show.
void end_virtual_rows(hid_t file, const ResultsLayout& layout);

/// The parts that the file names; none where it holds its rows itself.
ResultsParts read_parts(hid_t file);

}  // namespace concord
