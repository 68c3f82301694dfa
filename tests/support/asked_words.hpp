#pragma once

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

/// What standard input has next: so many words as the first one says, each with a zero byte behind
/// it. Nothing at the end.
inline std::string read_text() {
  std::string word, text;
  if (!std::getline(std::cin, word, '\0')) return {};
  for (std::size_t left = std::stoul(word); left > 0 && std::getline(std::cin, word, '\0'); --left)
    text += word + '\0';
  return text;
}

inline std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, '\0');) words.push_back(word);
  return words;
}
