#include "files/csv_table.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return concord::fuzzed([&] { concord::read_csv(concord::file_of(data, size, "table.csv")); });
}
