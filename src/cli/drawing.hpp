#pragma once

#include <filesystem>
#include <string>

namespace concord {

enum class PictureFormat { png, svg, pdf };

/// By the name's ending. Throws InputError.
PictureFormat picture_format(const std::filesystem::path& path);

// What others draw for us. InputError says how to install the program where it is missing, and why
// the picture cannot be written where it fails; then there is no part of it.

/// Throws InputError when there is no gnuplot.
void require_gnuplot();

/// Runs `script` (without `set output`) through a pipe; the picture is at `path` afterwards.
void draw_with_gnuplot(const std::string& script, const std::filesystem::path& path);

/// `text` as a gnuplot string literal.
std::string gnuplot_quoted(const std::string& text);

}  // namespace concord
