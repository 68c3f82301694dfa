#pragma once

#include <filesystem>
#include <string>

namespace concord {

/// Throws InputError, which says how to install it, when there is no gnuplot.
void require_gnuplot();

/// Runs `script` (without `set output`) through a pipe; the picture is at `path` afterwards. Throws
/// InputError when it cannot be written or gnuplot fails.
void draw_with_gnuplot(const std::string& script, const std::filesystem::path& path);

/// `text` as a gnuplot string literal.
std::string gnuplot_quoted(const std::string& text);

}  // namespace concord
