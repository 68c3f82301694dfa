#include <string>

#include "expression/expression_list.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return concord::fuzzed([&] {
    const concord::PlacedExpression text{std::string(reinterpret_cast<const char*>(data), size),
                                         "here"};
    concord::ExpressionNames names;
    names.variables = {{"t", 0}, {"x", 1}, {"u", 2}};
    names.constants = {{"k", 2.5}};
    concord::ExpressionList list(std::span(&text, 1), names, 3);
    double value = 0.0;
    list.evaluate(std::span(&value, 1));
    list.differentiate();
  });
}
