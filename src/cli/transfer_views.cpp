#include "cli/transfer_views.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numbers>
#include <vector>

#include "cli/presentation.hpp"
#include "concord/errors.hpp"
#include "studies/transfer.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Complex = std::complex<double>;

constexpr double degrees = 180.0 / std::numbers::pi;

std::string shown(Complex value) {
  char text[64];
  std::snprintf(text, sizeof text, value.imag() == 0.0 ? "%.6g" : "%.6g %+.6gi", value.real(),
                value.imag());
  return text;
}

/// One line; of many the first ones.
std::string listed(const std::vector<Complex>& values) {
  constexpr std::size_t most = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, values.size()); ++i)
    text += (i == 0 ? "" : ", ") + shown(values[i]);
  if (values.size() > most) text += " and " + std::to_string(values.size() - most) + " more";
  return text.empty() ? "none" : text;
}

void print_crossings(const char* label, const std::vector<Crossing>& crossings, bool decibels) {
  std::printf("  %-21s ", label);
  if (crossings.empty()) std::printf("%s", decibels ? "no gain reaches -1" : "never of size 1");
  for (std::size_t i = 0; i < crossings.size(); ++i) {
    const auto& [frequency, value] = crossings[i];
    if (decibels)
      std::printf("%s%.6g (%.2f dB)", i == 0 ? "" : "; ", value, 20.0 * std::log10(value));
    else
      std::printf("%s%.4f degrees", i == 0 ? "" : "; ", value * degrees);
    std::printf(" at %.6g rad/s", frequency);
  }
  std::printf("\n");
}

using DrawnJson = nlohmann::json;

/// On the imaginary axis.
DrawnJson response_of(const StateSpace& system, const std::vector<double>& grid) {
  const TransferFunction transfer(system);
  DrawnJson drawn{{"frequency", DrawnJson::array()},
                  {"real", DrawnJson::array()},
                  {"imag", DrawnJson::array()}};
  for (const double frequency : grid) {
    const Complex value = transfer({0.0, frequency})(0, 0);
    if (!std::isfinite(std::abs(value)) || value == 0.0) continue;
    drawn["frequency"].push_back(frequency);
    drawn["real"].push_back(value.real());
    drawn["imag"].push_back(value.imag());
  }
  return drawn;
}

DrawnJson points_of(const std::vector<Complex>& values) {
  DrawnJson real = DrawnJson::array(), imaginary = DrawnJson::array();
  for (const Complex& value : values) {
    real.push_back(value.real());
    imaginary.push_back(value.imag());
  }
  return {real, imaginary};
}

void add_responses(DrawnJson& data, const TransferPath& path, const StateSpace* less) {
  const PolesAndZeros known = poles_and_zeros(path.system);
  const std::vector<double> grid = frequency_grid(known.poles, known.zeros);
  data["whole"] = response_of(path.system, grid);
  if (less != nullptr) data["less"] = response_of(*less, grid);
}

void add_steps(DrawnJson& data, const TransferPath& path, const StateSpace* less,
               std::optional<double> until) {
  const auto told = [](const StepCurve& curve) {
    return DrawnJson{{"time", curve.time}, {"value", curve.value}};
  };
  const StepCurve whole = step_response(path.system, until);
  data["whole"] = told(whole);
  if (less != nullptr) data["less"] = told(step_response(*less, whole.time.back()));
}

void add_points(DrawnJson& data, const TransferPath& path, const StateSpace* less) {
  const PolesAndZeros known = poles_and_zeros(path.system);
  data["points"] = {{"poles", points_of(known.poles)},
                    {"zeros", points_of(known.zeros)},
                    {"cancelled, or not seen", points_of(known.cancelled)}};
  if (less != nullptr) data["points"]["poles, reduced"] = points_of(poles_and_zeros(*less).poles);
}

}  // namespace

void print_path(const TransferPath& path) {
  const PolesAndZeros found = poles_and_zeros(path.system);
  std::printf("%s\n", path.title.c_str());
  if (!found.passes) {
    std::printf("  the output does not depend on the input\n");
    return;
  }
  std::printf("  poles, 1/s            %s\n", listed(found.poles).c_str());
  std::printf("  zeros, 1/s            %s\n", listed(found.zeros).c_str());
  if (!found.cancelled.empty())
    std::printf("  cancelled, 1/s        %s (not reached, or not seen)\n",
                listed(found.cancelled).c_str());
  const auto at_zero = [](const std::vector<Complex>& values) {
    return std::count(values.begin(), values.end(), Complex(0.0));
  };
  if (const auto count = at_zero(found.poles); count > 0)
    std::printf("  gain at frequency 0   infinite: %td integration%s\n", count,
                count == 1 ? "" : "s");
  else
    std::printf("  gain at frequency 0   %.6g\n",
                at_zero(found.zeros) > 0 ? 0.0 : TransferFunction(path.system)(0.0)(0, 0).real());
}

void print_margins(const TransferPath& path, const Eigen::MatrixXd& closed) {
  if (!poles_and_zeros(path.system).passes) return;
  const LoopMargins margins = loop_margins(path.system);
  print_crossings("gain margin", margins.gain, true);
  print_crossings("phase margin", margins.phase, false);
  if (margins.delay) std::printf("  delay margin          %.6g s\n", *margins.delay);
  std::printf("  modulus margin        %.6g at %.6g rad/s (largest sensitivity %.6g)\n",
              margins.nearest.value, margins.nearest.frequency, 1.0 / margins.nearest.value);
  const Eigen::VectorXcd values = modes_of(closed).shown_eigenvalues();
  const double rate = values.size() == 0 ? -1.0 : values.real().maxCoeff();
  std::printf("  closed                %s\n", rate < 0.0   ? "stable"
                                              : rate > 0.0 ? "unstable"
                                                           : "neutral: a mode that does not decay");
}

void print_reduced(const ReducedSystem& reduced) {
  constexpr Eigen::Index most = 20;
  std::printf("  reduced               to %td states of %td", reduced.system.a.rows(),
              reduced.hankel.size() + reduced.kept);
  if (reduced.kept > 0) std::printf(", of which %td do not decay and are kept", reduced.kept);
  std::printf("\n  Hankel singular       ");
  const Eigen::Index count = reduced.hankel.size();
  for (Eigen::Index i = 0; i < std::min(most, count); ++i)
    std::printf("%s%.4g", i == 0 ? "" : ", ", reduced.hankel[i]);
  if (count > most) std::printf(" and %td more", count - most);
  std::printf("%s\n  error at most         %.6g (%.6g at the frequencies tried)\n",
              count == 0 ? "none" : "", reduced.bound, reduced.error);
}

void draw_path(const std::string& picture, const TransferPath& path, const StateSpace* less,
               std::optional<double> until, const std::filesystem::path& file) {
  const bool of_points = picture == "poles";
  if (!of_points && !poles_and_zeros(path.system).passes)
    throw InputError(path.title +
                     ": the output does not depend on the input there, so that there "
                     "is nothing to draw; take another --time, --open, --from or --to");
  DrawnJson data{{"title", path.title}, {"loop", path.loop}};
  if (of_points)
    add_points(data, path, less);
  else if (picture == "step")
    add_steps(data, path, less, until);
  else
    add_responses(data, path, less);
  draw_in_python(picture, data, file);
}

}  // namespace concord
