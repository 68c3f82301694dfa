#pragma once

#include <span>
#include <string>
#include <string_view>

#include "modelfile/yaml/keys.hpp"

namespace concord {

/// The keys of the model file, of one map each. What stands here is what readers take.
std::span<const Key> model_keys();
/// "; 'stop' belongs under 'experiment'" of a key that another map has; else empty.
std::string place_of_key(std::string_view name);
std::span<const Key> experiment_keys();
std::span<const Key> subsystem_keys();
std::span<const Key> template_keys();
std::span<const Key> system_keys();
std::span<const Key> run_keys();
std::span<const Key> equations_keys();
std::span<const Key> when_keys();
std::span<const Key> table_keys();
std::span<const Key> map_keys();
std::span<const Key> native_keys();
std::span<const Key> python_keys();
std::span<const Key> remote_keys();
std::span<const Key> messages_keys();
std::span<const Key> channel_keys();
std::span<const Key> can_keys();
std::span<const Key> connection_keys();
std::span<const Key> constraint_keys();
std::span<const Key> initial_keys();
std::span<const Key> schedule_keys();

}  // namespace concord
