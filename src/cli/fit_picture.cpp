#include "cli/fit_picture.hpp"

#include <algorithm>

#include "cli/drawing.hpp"
#include "cli/picture.hpp"

namespace concord {
namespace {

/// Of one variable, over all tables.
struct Series {
  Curve data, run;
};

void add_row(Series& series, double time, double measured, double answer) {
  series.data.points.emplace_back(time, measured);
  series.run.points.emplace_back(time, answer);
}

Series& series_of(std::vector<Series>& all, const std::string& name) {
  const auto found =
      std::ranges::find_if(all, [&](const Series& one) { return one.data.name == name; });
  if (found != all.end()) return *found;
  Series added;
  added.data.name = added.run.name = name;
  added.data.run = "measured";
  added.run.run = "fitted";
  added.data.measured = true;
  all.push_back(std::move(added));
  return all.back();
}

}  // namespace

void draw_fit(const std::filesystem::path& path, const std::string& title,
              const std::vector<TimeTable>& tables, const Eigen::VectorXd& answers) {
  std::vector<Series> all;
  PictureFrame frame{.title = title, .format = picture_format(path)};
  Eigen::Index answer = 0;
  frame.begin = tables.front().time.front();
  for (const TimeTable& table : tables) {
    frame.begin = std::min(frame.begin, table.time.front());
    frame.end = std::max(frame.end, table.time.back());
    for (std::size_t row = 0; row < table.time.size(); ++row)
      for (std::size_t column = 0; column < table.names.size(); ++column)
        add_row(series_of(all, table.names[column]), table.time[row], table.columns[column][row],
                answers[answer++]);
  }
  std::vector<Curve> curves;
  for (Series& series : all) {
    std::ranges::sort(series.run.points);
    curves.push_back(std::move(series.data));
    curves.push_back(std::move(series.run));
  }
  draw_over_time({frame, std::move(curves)}, path);
}

}  // namespace concord
