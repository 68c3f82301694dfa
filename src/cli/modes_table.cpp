#include "cli/modes_table.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <numeric>

namespace concord {

namespace {

/// "left.x 0.52, left.v 0.48": who takes the largest parts in the mode.
std::string participants(const std::vector<std::string>& states, const Modes& modes,
                         Eigen::Index mode) {
  constexpr std::size_t listed = 4;
  constexpr double little = 0.01;
  if (modes.participation.size() == 0) return "not told: eigenvectors nearly dependent";
  std::vector<Eigen::Index> order(states.size());
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  const auto part = [&](Eigen::Index state) { return modes.participation(state, mode); };
  std::stable_sort(order.begin(), order.end(),
                   [&](Eigen::Index i, Eigen::Index j) { return part(i) > part(j); });
  std::string text;
  for (std::size_t i = 0; i < std::min(listed, order.size()) && part(order[i]) >= little; ++i) {
    char number[32];
    std::snprintf(number, sizeof number, " %.2f", part(order[i]));
    text += (i == 0 ? "" : ", ") + states[static_cast<std::size_t>(order[i])] + number;
  }
  return text;
}

}  // namespace

void print_modes(const std::vector<std::string>& states, const Modes& modes) {
  constexpr Eigen::Index listed = 50;
  std::printf("  %-29s %-13s %-8s %s\n", "eigenvalue, 1/s", "frequency, Hz", "damping",
              "states that take part");
  const Eigen::Index count = modes.eigenvalues.size();
  const Eigen::VectorXcd shown = modes.shown_eigenvalues();
  for (Eigen::Index i = 0; i < std::min(listed, count); ++i) {
    const std::complex<double> value = shown[i];
    const double size = std::abs(value);
    char text[64];
    std::snprintf(text, sizeof text, value.imag() == 0.0 ? "%.6g" : "%.6g %+.6gi", value.real(),
                  value.imag());
    std::printf(
        "  %-29s %-13.6g %-8.3g %s\n", text, std::abs(value.imag()) / (2.0 * std::numbers::pi),
        size > 0.0 ? (0.0 - value.real()) / size : 1.0, participants(states, modes, i).c_str());
  }
  if (count > listed) {
    std::printf("  and %td more, of smaller real parts, in the file\n", count - listed);
  }
}

}  // namespace concord
