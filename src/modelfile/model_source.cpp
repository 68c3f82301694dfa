#include "concord/simulation.hpp"
#include "modelfile/model_file.hpp"

namespace concord {

ModelSource model_file(const std::string& path) {
  return [path] { return std::make_shared<Model>(read_model_file(path)); };
}

}  // namespace concord
