#include "network/signal_sizes.hpp"

#include <algorithm>
#include <cmath>

namespace concord {
namespace {

std::vector<double> nominal_inputs(const Model& model, const Network& network,
                                   std::span<const std::size_t> own) {
  std::vector<double> outputs;
  for (const auto& entry : model.subsystems) {
    for (const auto& output : entry.description.outputs) {
      outputs.push_back(output.nominal);
    }
  }
  std::vector<double> result;
  for (const std::size_t g : own) {
    const IndexRange range = network.inputs_of(g);
    for (std::size_t i = range.first; i < range.last; ++i) {
      const double given = model.subsystems[g].description.inputs[i - range.first].nominal;
      const auto& link = network.links()[i];
      const double source = link ? outputs[link->output] : 0.0;
      const bool from_source = given == 0.0 && source > 0.0;
      result.push_back(from_source ? std::abs(link->factor * source + link->offset) : given);
    }
  }
  return result;
}

std::vector<double> nominal_outputs(const Model& model, std::span<const std::size_t> own) {
  std::vector<double> result;
  for (const std::size_t g : own) {
    for (const auto& output : model.subsystems[g].description.outputs) {
      result.push_back(output.nominal);
    }
  }
  return result;
}

}  // namespace

SignalSizes::SignalSizes(const Model& model, const Network& network, const RankLayout& layout)
    : inputs(nominal_inputs(model, network, layout.global())),
      outputs(nominal_outputs(model, layout.global())) {}

void EquationWeights::take(IndexRange in, std::span<const double> g_u) {
  const auto row = g_u.subspan(constraint_residual * in.size(), in.size());
  if (std::any_of(row.begin(), row.end(), [](double slope) { return slope != 0.0; })) {
    std::transform(row.begin(), row.end(), values_.begin() + static_cast<std::ptrdiff_t>(in.first),
                   [](double slope) { return std::abs(slope); });
  }
}

}  // namespace concord
