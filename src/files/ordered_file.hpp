#pragma once

#include "support/hdf5_handle.hpp"

namespace concord {

/// Makes HDF5 write files that are opened with `access` in an order in which a program that is
/// killed in between leaves a file that opens and holds what it held before. What HDF5 writes of
/// its own (index, sizes, texts) waits in memory for H5Fflush or H5Fclose. Then the file grows, and
/// there come, one after the other: where it ends; what lies where nothing was; texts; the index,
/// from its root to its leaves; last the sizes of datasets, which tell of all that. (HDF5 by itself
/// writes sizes before the index of their rows.) Rows themselves are written at once: they lie
/// beyond what sizes tell of.
///
/// For one process. Throws Hdf5Error.
void write_in_order(hid_t access);

/// HDF5 takes every such file for closed: throws Hdf5Error where it is not, or lacks what it was to
/// hold. Nothing happens to an empty handle.
void close_in_order(Hdf5File& file);

}  // namespace concord
