#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace concord {

/// Numbers that are needed within a call only, from memory that all calls share, one
/// behind the other, and that stays in the cache whoever is called: a subsystem of a few states
/// would otherwise have most of its memory for them. Scratches end in the reverse order of their
/// beginnings, as local variables do; what a crash has left behind ends with the next one before.
class Scratch {
 public:
  Scratch() : outer_(stack_.top) {}
  ~Scratch() { stack_.top = outer_; }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// Of any value; they last as long as this object.
  std::span<double> numbers(std::size_t count) {
    for (;; stack_.top = {stack_.top.chunk + 1, 0}) {
      if (stack_.top.chunk == stack_.chunks.size()) stack_.chunks.emplace_back(count);
      if (stack_.top.used + count <= stack_.chunks[stack_.top.chunk].size) break;
    }
    double* const first = stack_.chunks[stack_.top.chunk].numbers.get() + stack_.top.used;
    stack_.top.used += count;
    return {first, count};
  }

 private:
  struct Chunk {
    explicit Chunk(std::size_t least)
        : size(least > usual ? least : usual), numbers(std::make_unique<double[]>(size)) {}

    static constexpr std::size_t usual = 8192;
    std::size_t size;
    std::unique_ptr<double[]> numbers;
  };
  struct Place {
    std::size_t chunk, used;
  };
  struct Stack {
    std::vector<Chunk> chunks;
    Place top;
  };

  static inline Stack stack_;
  Place outer_;
};

}  // namespace concord
