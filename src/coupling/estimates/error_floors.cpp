// What errors of outputs are judged against: what drives signals that rise, and what rounding and
// inputs that cancel leave of them.
#include <algorithm>
#include <cmath>

#include "coupling/estimates/error_propagation.hpp"
#include "support/agreement.hpp"

namespace concord {

/// Where the coupling carries errors nothing else has needed them.
void ErrorPropagation::find_gains() {
  for (Part& part : parts_) {
    if (!carried_ || part.spread->h == h_) continue;
    part.spread->h = h_;
    part.spread->gain = gain_over(part, h_);
  }
}

/// `gain_over` of every own subsystem that has an output which is astray and has risen; of the
/// others nothing.
std::vector<LinearMap> ErrorPropagation::gains_of_risen(double elapsed, std::span<const char> risen,
                                                        std::span<const int> astray) const {
  std::vector<LinearMap> gains(parts_.size());
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const IndexRange outputs = subsystems_.outputs_of(k);
    bool wanted = false;
    for (std::size_t o = outputs.first; o < outputs.last; ++o) {
      wanted = wanted || (astray[o] != 0 && risen[o] != 0);
    }
    if (wanted) {
      gains[k] = gain_over(parts_[k], elapsed);
    }
  }
  return gains;
}

/// Whether there was one.
bool ErrorPropagation::excuse_explained(std::span<const Sample> fed, std::span<const char> risen,
                                        std::span<const LinearMap> of_risen,
                                        std::span<int> astray) const {
  constexpr double amply = 100.0;
  const auto& connected = subsystems_.connected_inputs();
  bool any = false;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const Part& part = parts_[k];
    const std::size_t first = subsystems_.outputs_of(k).first;
    for (Eigen::Index o = 0; o < part.spread->gain.rows(); ++o) {
      const std::size_t output = first + static_cast<std::size_t>(o);
      if (astray[output] == 0) {
        continue;
      }
      const LinearMap& gain = risen[output] != 0 ? of_risen[k] : part.spread->gain;
      double explained = 0.0;
      gain.for_row(o, [&](Eigen::Index c, double by) {
        const double input =
            fed[connected[part.connected.first + static_cast<std::size_t>(c)]].value;
        explained += std::abs(by * input);
      });
      if (std::abs(outputs_[output].value) <= amply * explained) {
        astray[output] = 0;
        any = true;
      }
    }
  }
  return any;
}

void ErrorPropagation::excuse_driven(const CommunicationPoint& point, double elapsed,
                                     std::span<const double> scale, std::span<int> astray) {
  constexpr double nothing = 1e-3;
  std::vector<Sample> sound(outputs_.size()), fed(fed_.size());
  std::vector<char> risen(outputs_.size());
  for (std::size_t o = 0; o < risen.size(); ++o) {
    risen[o] = scale[o] <= nothing * std::abs(point.outputs[o].value) ? 1 : 0;
  }
  find_gains();
  const auto of_risen = gains_of_risen(elapsed, risen, astray);
  for (bool again = true; again;) {
    for (std::size_t o = 0; o < sound.size(); ++o) {
      const double size = std::abs(point.outputs[o].value) + std::abs(outputs_[o].value);
      sound[o].value = astray[o] == 0 ? size : 0.0;
    }
    subsystems_.exchange(sound, fed);
    for (const std::size_t i : subsystems_.connected_inputs()) {
      fed[i].value -= offsets_[i];
    }
    const bool excused = excuse_explained(fed, risen, of_risen, astray);
    again = agree_on_largest(subsystems_.comm(), excused ? 1 : 0) != 0;
  }
}

void ErrorPropagation::write_floors(const CommunicationPoint& point, std::span<double> floors) {
  constexpr double of_terms = 1e-8;   // what integrators and rounding leave of terms that cancel
  constexpr double of_inputs = 1e-6;  // of what the inputs could do within one interval
  constexpr int links = 3;
  const auto& connected = subsystems_.connected_inputs();
  std::vector<Sample> noise(outputs_.size());
  std::vector<Sample> fed(fed_.size());
  find_gains();
  for (int link = 0; link <= links; ++link) {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const Part& part = parts_[k];
      const auto states = subsystems_.own(k).description().capabilities.states
                              ? subsystems_.own(k).states()
                              : std::span<const double>();
      const std::size_t first = subsystems_.outputs_of(k).first;
      for (Eigen::Index o = 0; o < part.spread->gain.rows(); ++o) {
        double floor = 0.0;
        if (!states.empty()) {
          part.spread->c.for_row(o, [&](Eigen::Index s, double by) {
            floor += of_terms * std::abs(by * states[static_cast<std::size_t>(s)]);
          });
        }
        part.spread->gain.for_row(o, [&](Eigen::Index c, double by) {
          const std::size_t i = connected[part.connected.first + static_cast<std::size_t>(c)];
          floor +=
              std::abs(by) * (of_inputs * std::abs(point.inputs[i].value) + std::abs(fed[i].value));
        });
        noise[first + static_cast<std::size_t>(o)].value = floor;
      }
    }
    subsystems_.exchange(noise, fed);
    for (const std::size_t i : connected) {
      fed[i].value = std::abs(fed[i].value - offsets_[i]);
    }
  }
  for (std::size_t o = 0; o < floors.size(); ++o) {
    floors[o] = noise[o].value;
  }
}

}  // namespace concord
