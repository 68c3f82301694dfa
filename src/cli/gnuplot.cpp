#include "cli/gnuplot.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

#include "concord/errors.hpp"
#include "files/program.hpp"
#include "files/whole_file.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

/// Makes an empty file where there is none, so that gnuplot will be able to write it.
void require_writable(const fs::path& path) {
  std::FILE* file = std::fopen(path.c_str(), "ab");
  if (file == nullptr)
    throw InputError("cannot write the picture '" + path.string() + "': " + std::strerror(errno));
  std::fclose(file);
}

/// What gnuplot says to the script: its exit code.
int run_gnuplot(const std::string& script) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> input(std::tmpfile(), std::fclose);
  if (!input || std::fwrite(script.data(), 1, script.size(), input.get()) != script.size() ||
      std::fseek(input.get(), 0, SEEK_SET) != 0)
    throw InputError(std::string("cannot write the commands for gnuplot to a temporary file: ") +
                     std::strerror(errno));
  return run_program({.words = {"gnuplot"}, .input = fileno(input.get())});
}

}  // namespace

void require_gnuplot() {
  try {
    run_program({.words = {"gnuplot", "--version"}});
  } catch (const std::system_error&) {
    throw InputError(
        "pictures need gnuplot, which is not there: install it (Debian: apt-get install "
        "gnuplot-nox), or use 'concord export'");
  }
}

void draw_with_gnuplot(const std::string& script, const fs::path& path) {
  const fs::path target = link_target(path), unfinished = unfinished_name(target);
  const bool existed = fs::exists(path);
  require_writable(path);
  const bool done =
      run_gnuplot("set output " + gnuplot_quoted(unfinished.string()) + "\n" + script) == 0;
  std::error_code error;
  if (done && fs::file_size(unfinished, error) > 0 && !error) {
    fs::rename(unfinished, target, error);
    if (!error) return;
  }
  fs::remove(unfinished, error);
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
