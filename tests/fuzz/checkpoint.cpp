#include "checkpoint/checkpoint_file.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return concord::fuzzed(
      [&] { concord::read_checkpoint(concord::file_of(data, size, "run.checkpoint")); });
}
