#include "record/results_reader.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return concord::fuzzed([&] {
    const concord::ResultsReader results(concord::file_of(data, size, "results.h5"));
    for (const auto& variable : results.variables()) {
      const std::size_t column[] = {variable.column};
      results.read_columns(variable.quantity, column);
    }
    results.read_events();
    results.texts("/network/output");
  });
}
