#include "concord/simulation.hpp"
#include "modelfile/model_file.hpp"

namespace concord {

ModelSource model_file(const std::string& path, const Changes& changes) {
  return [path, changes,
          text = std::shared_ptr<const ModelFileText>()](const Changes& values) mutable {
    if (!text) text = std::make_shared<ModelFileText>(path);
    ModelChanges all = read_changes(changes);
    const ModelChanges more = read_changes(values);
    all.insert(all.end(), more.begin(), more.end());
    return std::make_shared<Model>(text->model(all));
  };
}

}  // namespace concord
