#include "cli/drawing.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "files/program.hpp"
#include "files/replaceable.hpp"
#include "files/whole_file.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

constexpr const char* gnuplot = "gnuplot";

/// Makes an empty file where there is none, so that others will be able to write it.
void require_writable(const fs::path& path) {
  std::FILE* file = std::fopen(path.c_str(), "ab");
  if (file == nullptr)
    throw InputError("cannot write the picture '" + path.string() + "': " + std::strerror(errno));
  std::fclose(file);
}

/// What the program says to this input: its exit code.
int run_on(const std::string& input, std::vector<std::string> words) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  if (!file || std::fwrite(input.data(), 1, input.size(), file.get()) != input.size() ||
      std::fseek(file.get(), 0, SEEK_SET) != 0)
    throw InputError("cannot write the commands for " + words[0] +
                     " to a temporary file: " + std::strerror(errno));
  return run_program({.words = std::move(words), .input = fileno(file.get())});
}

void require_program(const char* program, const char* package) {
  try {
    run_program({.words = {program, "--version"}});
  } catch (const std::system_error&) {
    throw InputError("pictures need " + std::string(program) +
                     ", which is not there: install it (Debian: apt-get install " + package +
                     "), or use 'concord export' or 'concord report'");
  }
}

/// `draws` makes the file it is given, and tells whether it did.
void make_picture(const fs::path& path, const std::function<bool(const std::string&)>& draws,
                  const char* else_missing) {
  const fs::path target = link_target(path), unfinished = unfinished_name(target);
  const bool existed = fs::exists(path);
  require_replaceable(path, FileContent::picture);
  require_writable(path);
  const bool done = draws(unfinished.string());
  std::error_code error;
  if (done && fs::file_size(unfinished, error) > 0 && !error) {
    fs::rename(unfinished, target, error);
    if (!error) return;
  }
  fs::remove(unfinished, error);
  if (!existed) fs::remove(path, error);
  throw InputError("'" + path.string() + "' could not be drawn: is the disk full, or " +
                   else_missing + " missing?");
}

}  // namespace

PictureFormat picture_format(const fs::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".svg" || ending == ".SVG") return PictureFormat::svg;
  if (ending == ".pdf" || ending == ".PDF") return PictureFormat::pdf;
  if (ending != ".png" && ending != ".PNG")
    throw InputError("'" + path.string() + "' must end in .png, .svg or .pdf: what it is to be");
  return PictureFormat::png;
}

void require_gnuplot() { require_program(gnuplot, "gnuplot-nox"); }

void draw_with_gnuplot(const std::string& script, const fs::path& path) {
  const auto draws = [&](const std::string& file) {
    return run_on("set output " + gnuplot_quoted(file) + "\n" + script, {gnuplot}) == 0;
  };
  make_picture(path, draws, "gnuplot's PNG terminal (pngcairo)");
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
