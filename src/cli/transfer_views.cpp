#include "cli/transfer_views.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include "cli/drawing.hpp"
#include "cli/picture.hpp"
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

/// "$name << ...": a line per point; where `jumps` says so, the line is interrupted before it.
std::string block(const std::string& name, const std::vector<std::vector<double>>& columns,
                  const std::vector<bool>& jumps = {}) {
  std::string text = "$" + name + " << END_OF_BLOCK\n";
  for (std::size_t i = 0; i < columns.front().size(); ++i) {
    if (!jumps.empty() && jumps[i]) text += "\n";
    for (const auto& column : columns) {
      char number[32];
      std::snprintf(number, sizeof number, "%.10g ", column[i]);
      text += number;
    }
    text += "\n";
  }
  return text + "END_OF_BLOCK\n";
}

/// Of a response on the imaginary axis.
struct AxisResponse {
  std::vector<double> frequency;
  std::vector<Complex> value;
};

AxisResponse response_on_axis(const StateSpace& system, const std::vector<double>& grid) {
  const TransferFunction transfer(system);
  AxisResponse response;
  for (const double frequency : grid) {
    const Complex value = transfer({0.0, frequency})(0, 0);
    if (!std::isfinite(std::abs(value)) || value == 0.0) continue;
    response.frequency.push_back(frequency);
    response.value.push_back(value);
  }
  return response;
}

/// Without jumps of a whole turn, in degrees; begins at -180 to 180. Of a loop it is between -360
/// and 0 where its gain first becomes 1, so that its distance from -180 is seen.
std::vector<double> unwrapped_phase(const AxisResponse& response, bool loop) {
  std::vector<double> phase;
  std::optional<std::size_t> crossing;
  for (std::size_t i = 0; i < response.value.size(); ++i) {
    double angle = std::arg(response.value[i]) * degrees;
    if (i > 0) {
      angle += 360.0 * std::round((phase.back() - angle) / 360.0);
      const bool crosses =
          (std::abs(response.value[i - 1]) > 1.0) != (std::abs(response.value[i]) > 1.0);
      if (crosses && !crossing) crossing = i;
    }
    phase.push_back(angle);
  }
  if (!loop || phase.empty()) return phase;
  const double turns = std::ceil(phase[crossing.value_or(0)] / 360.0);
  for (double& angle : phase) angle -= 360.0 * turns;
  return phase;
}

std::string bode_block(const std::string& name, const AxisResponse& response, bool loop) {
  std::vector<double> decibels;
  for (const Complex& value : response.value)
    decibels.push_back(20.0 * std::log10(std::abs(value)));
  return block(name, {response.frequency, decibels, unwrapped_phase(response, loop)});
}

/// Distance in degrees: eighths of a turn, or more of them where there are many turns.
std::string phase_tics(const AxisResponse& response) {
  constexpr double eighth = 45.0, most = 8.0;
  const std::vector<double> phase = unwrapped_phase(response, false);
  const auto [low, high] = std::ranges::minmax(phase);
  return std::to_string(
      static_cast<int>(eighth * std::max(1.0, std::ceil((high - low) / (most * eighth)))));
}

/// gnuplot's words for the path and what is nearly the same.
std::string curves(const std::string& using_columns, const StateSpace* less, bool named) {
  const auto curve = [&](const char* name, std::size_t which, const char* dash, const char* title) {
    return std::string("$") + name + " using " + using_columns + " with lines lw 2 dt " + dash +
           " lc rgb '" + curve_colour(which) + "' " +
           (named ? "title '" + std::string(title) + "'" : "notitle");
  };
  return curve("whole", 0, "1", "whole") +
         (less == nullptr ? "" : ", " + curve("less", 1, "2", "reduced"));
}

std::string key(const StateSpace* less) {
  return less == nullptr ? "set key off\n" : "set key inside top right noenhanced\n";
}

std::string bode_script(const TransferPath& path, const StateSpace* less) {
  const PolesAndZeros known = poles_and_zeros(path.system);
  const std::vector<double> grid = frequency_grid(known.poles, known.zeros);
  const AxisResponse whole = response_on_axis(path.system, grid);
  std::string script = bode_block("whole", whole, path.loop);
  if (less != nullptr) script += bode_block("less", response_on_axis(*less, grid), path.loop);
  script += "set logscale x\nset autoscale xfix\nset format x ''\nset multiplot layout 2,1 title " +
            gnuplot_quoted(path.title) + " font 'sans,15' noenhanced\n" + key(less) +
            "set lmargin 11\nset rmargin 3\nset ylabel 'gain [dB]'\n";
  if (path.loop)
    script += "set arrow 1 from graph 0,first 0 to graph 1,first 0 nohead lc rgb '#606060'\n";
  script += "plot " + curves("1:2", less, true) +
            "\nunset arrow\nset key off\nset format x '10^{%T}'\nset xlabel 'frequency [rad/s]'\n"
            "set ylabel 'phase [degrees]'\nset ytics " +
            phase_tics(whole) + "\n";
  if (path.loop)
    script += "set arrow 1 from graph 0,first -180 to graph 1,first -180 nohead lc rgb '#606060'\n";
  return script + "plot " + curves("1:3", less, false) + "\nunset multiplot\n";
}

/// What is far from -1 against what happens near it is drawn out of the picture.
double reach_of(const AxisResponse& response) {
  constexpr double least = 2.0, most = 3.0;
  double reach = least;
  for (const Complex& value : response.value)
    if (std::abs(value) <= most) reach = std::max(reach, 1.1 * std::abs(value));
  return reach;
}

std::string nyquist_block(const std::string& name, const AxisResponse& response, double reach) {
  std::vector<double> x, y, mirrored;
  std::vector<bool> jumps;
  bool outside = false;
  for (const Complex& value : response.value) {
    const bool far = std::abs(value) > 4.0 * reach;
    outside = outside || far;
    if (far) continue;
    x.push_back(value.real());
    y.push_back(value.imag());
    mirrored.push_back(-value.imag());
    jumps.push_back(outside && !x.empty());
    outside = false;
  }
  return block(name, {x, y, mirrored}, jumps);
}

std::string nyquist_script(const TransferPath& path, const StateSpace* less) {
  const PolesAndZeros known = poles_and_zeros(path.system);
  const std::vector<double> grid = frequency_grid(known.poles, known.zeros);
  const AxisResponse response = response_on_axis(path.system, grid);
  const double reach = reach_of(response);
  std::string script = nyquist_block("whole", response, reach);
  if (less != nullptr) script += nyquist_block("less", response_on_axis(*less, grid), reach);
  char ranges[160];
  std::snprintf(ranges, sizeof ranges, "set xrange [%g:%g]\nset yrange [%g:%g]\n", -reach, reach,
                -reach, reach);
  script += "set title " + gnuplot_quoted(path.title) + " font 'sans,15' noenhanced\n" + key(less) +
            ranges +
            "set size ratio -1\nset xlabel 'real part'\nset ylabel 'imaginary part'\n"
            "set object 1 circle at 0,0 size 1 fc rgb '#a0a0a0' fs empty\n";
  if (path.loop)
    script +=
        "set label 1 '' at -1,0 point pt 2 ps 1.6 lw 2 lc rgb '#000000'\n"
        "set label 2 '{/:Normal \xe2\x88\x92}1' at -1,0 offset -0.5,0.9 right\n";
  return script + "plot " + curves("1:2", less, true) +
         ", $whole using 1:3 with lines lw 1 dt 3 lc rgb '" + curve_colour(0) +
         "' title 'negative frequencies'\n";
}

std::string step_script(const TransferPath& path, const StateSpace* less,
                        std::optional<double> until) {
  const StepCurve whole = step_response(path.system, until);
  std::string script = block("whole", {whole.time, whole.value});
  if (less != nullptr) {
    const StepCurve other = step_response(*less, whole.time.back());
    script += block("less", {other.time, other.value});
  }
  return script + "set title " + gnuplot_quoted(path.title + ", to a step of 1") +
         " font 'sans,15' noenhanced\n" + key(less) +
         "set offsets 0, 0, graph 0.06, graph 0.06\nset xlabel 'time [s]'\n"
         "set ylabel 'response'\nplot " +
         curves("1:2", less, true) + "\n";
}

std::string poles_block(const std::string& name, const std::vector<Complex>& values) {
  std::vector<double> x, y;
  for (const Complex& value : values) {
    x.push_back(value.real());
    y.push_back(value.imag());
  }
  return block(name, {x, y});
}

std::string poles_script(const TransferPath& path, const StateSpace* less) {
  const PolesAndZeros known = poles_and_zeros(path.system);
  std::string script = poles_block("poles", known.poles) + poles_block("zeros", known.zeros) +
                       poles_block("cancelled", known.cancelled);
  std::string plots;
  const auto add = [&](bool there, const char* name, const char* look, const char* title) {
    if (!there) return;
    plots += (plots.empty() ? "" : ", ") + ("$" + std::string(name)) + " using 1:2 with points " +
             look + " title '" + title + "'";
  };
  add(!known.poles.empty(), "poles", "pt 2 ps 1.8 lw 2 lc rgb '#0072B2'", "poles");
  add(!known.zeros.empty(), "zeros", "pt 6 ps 1.8 lw 2 lc rgb '#D55E00'", "zeros");
  add(!known.cancelled.empty(), "cancelled", "pt 1 ps 1.2 lw 1 lc rgb '#808080'",
      "cancelled, or not seen");
  if (less != nullptr) {
    const PolesAndZeros fewer = poles_and_zeros(*less);
    script += poles_block("fewer", fewer.poles);
    add(!fewer.poles.empty(), "fewer", "pt 4 ps 2.2 lw 1 lc rgb '#009E73'", "poles, reduced");
  }
  if (plots.empty()) plots = "NaN notitle";
  return script + "set title " + gnuplot_quoted(path.title) +
         " font 'sans,15' noenhanced\nset key outside right top Left reverse noenhanced\n"
         "set offsets graph 0.1, graph 0.1, graph 0.1, graph 0.1\nset zeroaxis lc rgb '#606060'\n"
         "set xlabel 'real part [1/s]'\nset ylabel 'imaginary part [1/s]'\n"
         "set xrange [*<0:0<*]\nplot " +
         plots + "\n";
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

void draw_path(TransferPicture picture, const TransferPath& path, const StateSpace* less,
               std::optional<double> until, const std::filesystem::path& file) {
  if (picture != TransferPicture::poles && !poles_and_zeros(path.system).passes)
    throw InputError(path.title +
                     ": the output does not depend on the input there, so that there "
                     "is nothing to draw; take another --time, --open, --from or --to");
  const PictureFrame frame{.format = picture_format(file)};
  const bool square = picture == TransferPicture::nyquist;
  const bool tall = picture == TransferPicture::bode;
  const std::string script = picture == TransferPicture::bode      ? bode_script(path, less)
                             : picture == TransferPicture::nyquist ? nyquist_script(path, less)
                             : picture == TransferPicture::step    ? step_script(path, less, until)
                                                                   : poles_script(path, less);
  draw_with_gnuplot(picture_begin(frame, square ? 800 : 1000, square || tall ? 760 : 520) + script +
                        "set output\n",
                    file);
}

}  // namespace concord
