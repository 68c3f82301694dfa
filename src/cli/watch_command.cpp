#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/followed_run.hpp"
#include "cli/session.hpp"
#include "cli/watch_page.hpp"
#include "cli/watched_run.hpp"
#include "files/writer_lock.hpp"
#include "record/results_reader.hpp"
#include "support/name_patterns.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

int watch(const Arguments& arguments);

const RegisteredCommand watch_run({
    .name = "watch",
    .place = 62,
    .usage = "RESULT.h5 | ADDRESS [--variables V] [--every SECONDS] [--once | --page]",
    .summary = "a run that goes on, in the terminal or a page",
    .description =
        "Shows how far a run is that writes this results file, or streams at this address\n"
        "(-cosim_stream; 'tcp://127.0.0.1:5600#token'): time, time left, rows, events,\n"
        "and variables as they are and have been; in a terminal in place, else a line each time. "
        "Rows\n"
        "are in the file every two seconds, in a stream at once. It ends with the run, with its "
        "exit code: 0 done, 1 "
        "failed\n"
        "or no more, 3 stopped early. With --page a browser of this machine shows it at the "
        "address\n"
        "that is printed, with sliders for what a run that streams lets be set "
        "(-cosim_stream_set).",
    .words = {{.name = "variables",
               .letter = 'v',
               .value = "NAMES",
               .help = "comma-separated names or patterns: left.x,cell[*].x\n"
                       "(default: the first outputs)"},
              {.name = "every",
               .letter = 'e',
               .value = "SECONDS",
               .help = "how often to look (default: 2)"},
              {.name = "once", .letter = '1', .help = "only now; exit code 0"},
              {.name = "page", .letter = 'p', .help = "in a page, for a browser of this machine"},
              {.name = "port", .value = "PORT", .help = "of the page (default: any free one)"}},
    .example = "watch model.h5 -v 'left.*'",
    .run =
        [](const Arguments& arguments) {
          return without_session([&] { return watch(arguments); });
        },
});

std::string in_seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
  if (seconds < 120) return text;
  const auto whole = static_cast<long long>(seconds);
  std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  return text;
}

std::string progress_line(const WatchedRun& run) {
  std::string line;
  char text[64];
  if (run.stop && *run.stop > run.start) {
    const double done = (run.now - run.start) / (*run.stop - run.start);
    std::snprintf(text, sizeof text, "%5.1f %%  ", 100.0 * done);
    line += text;
  }
  line += "t = " + short_number(run.now) + " s";
  line += "  " + std::to_string(run.rows) + " rows";
  if (run.rows > 1) line += ", the last " + short_number(run.last_distance) + " s apart";
  line += "  " + std::to_string(run.events) + " events";
  if (run.status == "running" && std::isfinite(run.left)) line += "  left " + in_seconds(run.left);
  return line;
}

/// What a variable has been, in eight heights, by time; blank where it is not a number.
std::string course_of(std::span<const double> values) {
  static constexpr std::array heights{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double least = INFINITY, most = -INFINITY;
  for (const double value : values)
    if (std::isfinite(value)) least = std::min(least, value), most = std::max(most, value);
  std::string course;
  for (const double value : values) {
    const double part = most > least ? (value - least) / (most - least) : 0.0;
    course += !std::isfinite(value)
                  ? " "
                  : heights[static_cast<std::size_t>(std::lround(part * (heights.size() - 1)))];
  }
  return course;
}

std::string variable_lines(const WatchedRun& run) {
  std::string lines;
  for (const auto& [name, unit, values] : run.variables) {
    char text[160];
    std::snprintf(text, sizeof text, "  %-24s %12.6g %-8s ", name.c_str(), values.back(),
                  unit.c_str());
    lines += text + course_of(values) + "\n";
  }
  return lines;
}

/// All that is known, once or in a terminal over what was shown before; or a line each time; or in
/// a page.
enum class Manner { once, in_place, lines, page };

/// Shows what is there now.
class Display {
 public:
  explicit Display(Manner manner) : manner_(manner) {}

  void show(const WatchedRun& run) {
    std::string text = progress_line(run) + "\n";
    if (manner_ != Manner::lines)
      text = run.model + ", " + run.status + "\n" + text + variable_lines(run);
    if (manner_ == Manner::in_place && shown_ > 0) std::printf("\033[%tdA\033[J", shown_);
    shown_ = std::count(text.begin(), text.end(), '\n');
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }

 private:
  Manner manner_;
  std::ptrdiff_t shown_ = 0;  ///< lines
};

int code_of(const std::string& status) {
  if (status == "interrupted") return 3;
  return status == "failed" || status == "running" ? 1 : 0;
}

/// Where it has ended, pages are still told of it: until one knows, or nobody comes for so long, s.
constexpr double until_nobody_comes = 30.0;

/// s between two questions of a page: of a stream as often as it is seen to move.
constexpr double often = 0.1;

/// Shows a run in pages until it is over and one of them knows.
class PageTurns {
 public:
  PageTurns(int port, double every) : server_(watch_page(), port), every_(every) {
    std::printf("%s\n", server_.address().c_str());
    std::fflush(stdout);
  }

  /// Those who come until then; `tell(since)`: with the rows behind a time, s.
  void answer(PageServer::Clock::time_point until, const std::function<PageNews(double)>& tell,
              const std::function<void(const std::string&)>& set) {
    server_.answer(until, {[&](const PageServer::Known& known) {
                             PageNews news = tell(known.time);
                             news.every = every_;
                             told_of_end_ = told_of_end_ || news.over;
                             return in_json(news, known);
                           },
                           set});
  }

  /// The run is over.
  bool done() {
    if (!over_at_) over_at_ = PageServer::Clock::now();
    const std::chrono::duration<double> patience(until_nobody_comes);
    return told_of_end_ || PageServer::Clock::now() - *over_at_ > patience;
  }

 private:
  PageServer server_;
  double every_;
  std::optional<PageServer::Clock::time_point> over_at_;
  bool told_of_end_ = false;
};

void show_stream_in_page(StreamReader& stream, const std::vector<std::string>& wanted, int port) {
  constexpr double to_run = 0.005, to_pages = 0.001;     // s, in which each is heard in turn
  if (stream.has_rows()) run_in_stream(stream, wanted);  // names that are not there
  PageTurns page(port, often);
  const auto is_over = [&] { return stream.status || stream.is_lost(); };
  const auto tell = [&](double since) {
    PageNews news;
    if (stream.has_rows()) {
      news.run = run_in_stream(stream, wanted);
      news.rows = rows_in_stream(stream, wanted, since);
    }
    if (stream.is_lost()) news.run.status = "no more";
    news.over = is_over();
    news.exit_code = stream.status ? stream.exit_code : 1;
    news.events = stream.told_events;
    news.targets = stream.targets;
    news.sets = stream.told_sets;
    return news;
  };
  while (!is_over() || !page.done()) {
    if (!is_over()) stream.read(time_in(to_run));
    page.answer(time_in(is_over() ? often : to_pages), tell,
                [&](const std::string& values) { stream.set(values); });
  }
}

/// Gives its last status.
std::string show_file_in_page(const std::string& path, const std::vector<std::string>& wanted,
                              double every, int port) {
  std::string status = run_in_file(path, wanted).status;
  bool goes_on = true;
  PageTurns page(port, every);
  const auto is_over = [&] { return status != "running" || !goes_on; };
  const auto tell = [&](double since) {
    PageNews news;
    goes_on = is_being_written(path);
    try {
      news.run = run_in_file(path, wanted);
      news.rows = rows_in_file(path, wanted, since);
      news.events = events_in_file(path);
      status = news.run.status;
    } catch (const UnreadableResults&) {
      if (!goes_on) throw;
    }
    news.over = is_over();
    news.exit_code = code_of(status);
    if (news.over && status == "running") news.run.status = "no more";
    return news;
  };
  const auto set = [](const std::string&) {};
  for (auto look = time_in(0.0); !is_over() || !page.done();) {
    page.answer(time_in(often), tell, set);
    if (is_over() || PageServer::Clock::now() < look) continue;
    tell(INFINITY);
    look = time_in(every);
  }
  return status;
}

int watch_file(const std::string& path, const std::vector<std::string>& wanted, double every,
               Manner manner, int port) {
  if (manner == Manner::page) {
    const std::string status = show_file_in_page(path, wanted, every, port);
    if (status == "running") tell_no_more(path);
    if (status != "running") std::printf("%s\n", status.c_str());
    return code_of(status);
  }
  Display display(manner);
  const auto show = [&] {
    const WatchedRun run = run_in_file(path, wanted);
    display.show(run);
    return run.status;
  };
  if (manner == Manner::once) return show(), 0;
  const std::string status = follow_run(path, every, show);
  if (status != "running") std::printf("%s\n", status.c_str());
  return code_of(status);
}

int watch_stream(const std::string& text, const std::vector<std::string>& wanted, double every,
                 Manner manner, int port) {
  const StreamAddress address = read_stream_address(text, "concord watch");
  StreamReader stream(address);
  wait_for_stream(stream, address);
  Display display(manner);
  if (manner == Manner::page)
    show_stream_in_page(stream, wanted, port);
  else if (stream.has_rows())
    display.show(run_in_stream(stream, wanted));
  if (manner == Manner::once) return 0;
  while (!stream.status && !stream.is_lost()) {
    stream.read(time_in(every));
    display.show(run_in_stream(stream, wanted));
  }
  if (!stream.status) std::printf("the run that has streamed at %s is no more\n", text.c_str());
  if (stream.status) std::printf("%s\n", stream.status->c_str());
  return stream.status ? stream.exit_code : 1;
}

int watch(const Arguments& arguments) {
  const GivenWords given = read_words(watch_run, after_name(arguments));
  if (given.names.size() != 1)
    refuse_words(watch_run, "'concord watch' takes one results file or address");
  const std::string text = given.value("every").value_or("2");
  const auto every = parse_number(text);
  if (!every || *every < 0.1 || *every > 86400)
    refuse_words(watch_run, "--every takes seconds, 0.1 to 86400, not " + in_quotes(text));
  const std::string& path = given.names.front();
  const auto port = parse_number(given.value("port").value_or("0"));
  if (!port || *port != std::floor(*port) || *port < 0 || *port > 65535)
    refuse_words(watch_run,
                 "--port takes a number, 1 to 65535, not " + in_quotes(*given.value("port")));
  if (given.has("page") && given.has("once"))
    refuse_words(watch_run,
                 "--once is for the terminal, and --page shows a run while it goes on; give one");
  if (given.has("port") && !given.has("page")) refuse_words(watch_run, "--port belongs to --page");
  const Manner manner = given.has("page")            ? Manner::page
                        : given.has("once")          ? Manner::once
                        : isatty(STDOUT_FILENO) != 0 ? Manner::in_place
                                                     : Manner::lines;
  const auto wanted = listed_names(given.value("variables").value_or(""));
  return is_stream_address(path)
             ? watch_stream(path, wanted, *every, manner, static_cast<int>(*port))
             : watch_file(path, wanted, *every, manner, static_cast<int>(*port));
}

}  // namespace
}  // namespace concord
