#include "cli/gnuplot.hpp"

#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "concord/errors.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

/// While alive, writing to a program that has ended is an error code, not the end of ours.
class NoBrokenPipe {
 public:
  NoBrokenPipe() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~NoBrokenPipe() { std::signal(SIGPIPE, before_); }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;

 private:
  void (*before_)(int);
};

/// Makes an empty file where there is none, so that gnuplot will be able to write it.
void require_writable(const fs::path& path) {
  std::FILE* file = std::fopen(path.c_str(), "ab");
  if (file == nullptr)
    throw InputError("cannot write the picture '" + path.string() + "': " + std::strerror(errno));
  std::fclose(file);
}

bool run(const std::string& script) {
  const NoBrokenPipe no_broken_pipe;
  std::FILE* pipe = popen("gnuplot >/dev/null 2>&1", "w");
  if (pipe == nullptr) return false;
  const bool sent = std::fwrite(script.data(), 1, script.size(), pipe) == script.size();
  const int status = pclose(pipe);
  return sent && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

void require_gnuplot() {
  if (std::system("command -v gnuplot >/dev/null 2>&1") != 0)
    throw InputError(
        "'concord plot' needs gnuplot, which is not there: install it (Debian: apt-get install "
        "gnuplot-nox), or use 'concord export'");
}

void draw_with_gnuplot(const std::string& script, const fs::path& path) {
  const bool existed = fs::exists(path);
  require_writable(path);
  const bool done = run("set output " + gnuplot_quoted(path.string()) + "\n" + script);
  std::error_code error;
  if (done && fs::file_size(path, error) > 0 && !error) return;
  if (!existed) fs::remove(path, error);
  throw InputError("gnuplot could not draw '" + path.string() +
                   "': is the disk full, or its PNG terminal (pngcairo) missing?");
}

std::string gnuplot_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') result += '\'';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + "'";
}

}  // namespace concord
