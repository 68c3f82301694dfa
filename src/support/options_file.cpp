#include "support/options_file.hpp"

#include <cctype>
#include <fstream>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

constexpr std::string_view blanks = " \t\r\n";

void require_option(const std::vector<std::string>& words, const std::string& place) {
  const std::string one_per_line =
      "; write one option per line, '-name value' or '-name', and # "
      "before a comment";
  if (!is_option_name(words[0])) {
    throw InputError(place + "found " + in_quotes(words[0]) + " where an option must begin" +
                     one_per_line);
  }
  if (words[0] == "-options_file") {
    throw InputError(place + "an options file cannot name another; give both on the command line");
  }
  if (words.size() > 2 || (words.size() == 2 && is_option_name(words[1]))) {
    throw InputError(place + "found " + in_quotes(words[words.size() > 2 ? 2 : 1]) + " after " +
                     in_quotes(words[0]) + one_per_line);
  }
}

/// Editors on Windows put three bytes before UTF-8 text.
void skip_byte_order_mark(std::istream& stream) {
  char first[3] = {};
  stream.read(first, sizeof first);
  if (std::string_view(first, sizeof first) != "\xef\xbb\xbf") {
    stream.clear();
    stream.seekg(0);
  }
}

}  // namespace

bool is_option_name(std::string_view word) {
  const std::size_t dashes = word.starts_with("--") ? 2 : 1;
  return word.starts_with('-') && word.size() > dashes &&
         std::isalpha(static_cast<unsigned char>(word[dashes])) != 0 && word != "-inf" &&
         word != "-nan";
}

std::vector<std::string> split_words(std::string_view text, const std::string& place) {
  std::vector<std::string> words;
  for (std::size_t i = text.find_first_not_of(blanks); i < text.size() && text[i] != '#';
       i = text.find_first_not_of(blanks, i)) {
    const bool quoted = text[i] == '"' || text[i] == '\'';
    const std::size_t begin = quoted ? i + 1 : i;
    const std::size_t end = quoted ? text.find(text[i], begin) : text.find_first_of(blanks, begin);
    if (quoted && end == std::string_view::npos) {
      throw InputError(place + "the quote before " + in_quotes(text.substr(begin)) +
                       " is not closed; add the closing one");
    }
    words.emplace_back(text.substr(begin, end - begin));
    i = end == std::string_view::npos ? end : end + 1;
  }
  return words;
}

std::vector<std::string> read_options_file(const std::filesystem::path& path) {
  std::error_code error;
  std::ifstream stream(path);
  if (!std::filesystem::is_regular_file(path, error) || !stream.good()) {
    throw InputError("-options_file " + path.string() +
                     ": cannot be read; give the path of a text file with one option per line");
  }
  std::vector<std::string> words;
  std::string line;
  skip_byte_order_mark(stream);
  for (int number = 1; std::getline(stream, line); ++number) {
    const std::string place = path.string() + ":" + std::to_string(number) + ": ";
    const auto found = split_words(line, place);
    if (!found.empty()) {
      require_option(found, place);
      words.insert(words.end(), found.begin(), found.end());
    }
  }
  return words;
}

}  // namespace concord
