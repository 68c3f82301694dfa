#include "settings/order.hpp"

#include <algorithm>

#include "concord/errors.hpp"
#include "support/options.hpp"

namespace concord {
namespace {

/// Relative tolerances of the step control. What repeats its long macro-steps pays for their
/// length.
constexpr double pays_below = 2e-5, pays_repeated_below = 2e-7;

/// The preset of that type, or null.
const Method* preset(std::string_view type) {
  const auto& presets = method_presets();
  const auto found = std::find_if(presets.begin(), presets.end(),
                                  [&](const Method& one) { return one.type == type; });
  return found == presets.end() ? nullptr : &*found;
}

/// "jfm" of "jfm6".
std::string without_order(const std::string& type) {
  return type.ends_with('6') ? type.substr(0, type.size() - 1) : type;
}

[[noreturn]] void refuse(const Settings& settings, const std::string& why) {
  throw InputError("option -cosim_order: found " + std::string(word(settings.order)) + ", " + why);
}

void take(Method& method, const Method& preset) {
  method.type = preset.type;
  method.hold = preset.hold;
  if (!options::has("missiles_defect")) {
    method.estimator.defect = preset.estimator.defect;
  }
}

}  // namespace

bool quintic_pays(const Method& method) {
  const double below = method.solve.iterates ? pays_repeated_below : pays_below;
  return method.adapt_tolerance.relative < below;
}

void choose_order(Settings& settings, const Model& model) {
  Method& method = settings.method;
  if (settings.order == Order::by_type) {
    return;
  }
  const Method* cubic = preset(without_order(method.type));
  const Method* quintic = preset(without_order(method.type) + "6");
  if (cubic == nullptr || quintic == nullptr) {
    refuse(settings, "which chooses the inputs of -cosim_type jfm and missiles, not of " +
                         method.type + "; leave it out");
  }
  if (options::has("cosim_hold")) {
    refuse(settings, "beside -cosim_hold, which decides the same; leave one of them out");
  }
  if (settings.order == Order::automatic && method.estimate != ErrorEstimate::predictor) {
    refuse(settings,
           "which goes by the tolerance of the step control; add -cosim_adapt predictor or "
           "-cosim_accuracy, or give 4 or 6");
  }
  Method with_quintic = method;
  take(with_quintic, *quintic);
  settings.chose_order_six = settings.order == Order::automatic && !model.stiff.value_or(false) &&
                             quintic_pays(with_quintic) &&
                             missing_capabilities(with_quintic, model).empty();
  take(method, settings.order == Order::six || settings.chose_order_six ? *quintic : *cubic);
}

}  // namespace concord
