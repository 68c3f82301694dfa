#include "record/dimension_labels.hpp"

#include <hdf5_hl.h>

#include <algorithm>
#include <array>
#include <string>

#include "record/results_schema.hpp"
#include "support/hdf5_error.hpp"

namespace concord {

void label_dimensions(hid_t file, const ResultsLayout& layout) {
  const auto opened = [&](const std::string& path) {
    return Hdf5Dataset(hdf5_check(H5Dopen2(file, path.c_str(), H5P_DEFAULT)));
  };
  for (const ResultsDataset& dataset : results_datasets()) {
    if (!dataset.exists(layout) || scale_of(dataset.extents[0], layout) != dataset.path) continue;
    const std::string name = dataset.path.substr(dataset.path.rfind('/') + 1);
    hdf5_check(H5DSset_scale(opened(dataset.path), name.c_str()));
  }
  for (const ResultsDataset& dataset : results_datasets()) {
    for (std::size_t i = 0; dataset.exists(layout) && i < dataset.extents.size(); ++i) {
      const std::string scale = scale_of(dataset.extents[i], layout);
      if (scale.empty() || scale == dataset.path) continue;
      hdf5_check(H5DSattach_scale(opened(dataset.path), opened(scale), static_cast<unsigned>(i)));
    }
  }
}

bool labels_dimensions(std::string_view attribute) {
  constexpr std::array<std::string_view, 4> labels{"CLASS", "NAME", "DIMENSION_LIST",
                                                   "REFERENCE_LIST"};
  return std::find(labels.begin(), labels.end(), attribute) != labels.end();
}

}  // namespace concord
