#pragma once

#include <cstddef>
#include <vector>

namespace concord {

struct Model;

/// A text output or input: the subsystem's position in the model, and its own in the subsystem's
/// TextInterface.
struct TextEnd {
  std::size_t subsystem = 0;
  std::size_t index = 0;
};

struct TextLink {
  TextEnd from, to;
};

/// Model::text_connections in numbers.
std::vector<TextLink> text_links(const Model& model);

/// Whether any subsystem puts out or takes texts or bytes.
bool has_texts(const Model& model);

}  // namespace concord
