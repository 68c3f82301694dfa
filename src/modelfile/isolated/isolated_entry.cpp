#include "modelfile/isolated/isolated_entry.hpp"

#include <utility>

namespace concord {

void isolate(SubsystemEntry& entry, Recipe recipe, const IsolationOptions& options) {
  entry.isolated = true;
  entry.description = isolated_description(std::move(entry.description), recipe, options);
  entry.type.own().create = [recipe = std::move(recipe), shown = entry.description, options,
                             kept = std::make_shared<KeptProcess>()](
                                const SubsystemEntry&, const SubsystemSettings& settings) {
    Recipe own = recipe;
    own.settings = settings;
    return make_isolated_subsystem(std::move(own), shown, options, kept);
  };
}

}  // namespace concord
