#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace concord {

/// A word that stands for a value in options and messages.
template <class T>
struct WordOf {
  std::string_view word;
  T value;
};

/// The words for the values of T, default first. Each T has its own, beside its declaration.
template <class T>
std::span<const WordOf<T>> words_of();

/// The word for a value that has one.
template <class T>
std::string_view word(const T& value) {
  const auto words = words_of<T>();
  return std::find_if(words.begin(), words.end(),
                      [&](const WordOf<T>& one) { return one.value == value; })
      ->word;
}

/// The words of entries that carry their own.
template <class T>
std::vector<WordOf<T>> words_of_entries(std::span<const T> entries) {
  std::vector<WordOf<T>> words;
  for (const T& entry : entries) {
    words.push_back({entry.word, entry});
  }
  return words;
}

}  // namespace concord
