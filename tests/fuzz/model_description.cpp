#include "subsystem/fmu/description/model_description.hpp"

#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return concord::fuzzed([&] {
    concord::file_of(data, size, "modelDescription.xml");
    concord::ModelDescription model =
        concord::read_model_description(concord::fuzzing_folder(), "fuzzed.fmu");
    concord::apply_dimensions(model, "fuzzed.fmu");
  });
}
