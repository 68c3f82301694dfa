#include "concord/simulation.hpp"
#include "modelfile/model_file.hpp"

namespace concord {

ModelSource model_file(const std::string& path, const std::vector<std::string>& changes) {
  return [path, changes] {
    return std::make_shared<Model>(read_model_file(path, read_changes(changes)));
  };
}

}  // namespace concord
