#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "concord/archive.hpp"
#include "support/hdf5_handle.hpp"

namespace concord {

/// What is where in the lanes of an Archive::Memory: lane by lane one of a few layouts, which alike
/// subsystems share. A layout is a text, a line "type bytes count name" for each entry of an
/// ArchiveSchema.
struct LaneLayouts {
  std::vector<std::string> texts;
  std::vector<std::uint32_t> of;  ///< per lane

  void io(Archive& archive) { CONCORD_MEMBERS(archive, texts, of); }

  /// Texts of `others` that are not there, too. Where the others' lanes' are now.
  std::vector<std::uint32_t> take(const LaneLayouts& others);
};

LaneLayouts layouts_of(const ArchiveSchema& schema);

/// Writes a memory into an HDF5 file as columns, one dataset for each name: /run what is common,
/// /network what others remember of subsystems, /subsystems what these remember themselves, of all
/// subsystems one after the other. Throws Hdf5Error.
void write_columns(hid_t file, const Archive::Memory& memory, const LaneLayouts& layouts);

/// The memory of columns and layouts. Throws Hdf5Error where they don't fit.
Archive::Memory read_columns(hid_t file, const LaneLayouts& layouts);

}  // namespace concord
