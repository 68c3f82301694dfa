#include "coupling/estimates/unit_sizes.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "support/agreement.hpp"

namespace concord {

UnitSizes::UnitSizes(const RankNetwork& subsystems) : subsystems_(subsystems) {
  std::map<std::string, std::vector<std::size_t>> without_number;
  for (const std::size_t k : subsystems.all()) {
    const auto& outputs = subsystems.own(k).description().outputs;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      without_number[outputs[o].unit].push_back(subsystems.outputs_of(k).first + o);
    }
  }
  unit_.resize(subsystems.n_outputs());
  const auto next = [&] {
    return agree_on_text(subsystems.comm(), without_number.empty()
                                                ? std::nullopt
                                                : std::optional(without_number.begin()->first));
  };
  for (auto unit = next(); unit; unit = next()) {
    for (const std::size_t output : without_number[*unit]) {
      unit_[output] = largest_.size();
    }
    without_number.erase(*unit);
    largest_.push_back(0.0);
  }
}

void UnitSizes::update() {
  const auto sizes = subsystems_.output_sizes().values();
  for (std::size_t o = 0; o < unit_.size(); ++o) {
    largest_[unit_[o]] = std::max(largest_[unit_[o]], sizes[o]);
  }
  agree_on_largest(subsystems_.comm(), largest_);
}

}  // namespace concord
