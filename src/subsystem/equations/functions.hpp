#pragma once

#include <span>
#include <string>

namespace mu {
class Parser;
}

namespace concord {

/// Makes `parser` know exactly the functions and constants of the model file's expressions (and
/// nothing that muParser brings along). Functions of undefined arguments give NaN or infinity.
void define_functions(mu::Parser& parser);

/// Names of all functions, sorted.
std::span<const std::string> function_names();

/// Names of all constants (pi).
std::span<const std::string> constant_names();

}  // namespace concord
