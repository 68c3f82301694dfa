#include "simulation/common_abilities.hpp"

#include "support/agreement.hpp"

namespace concord {

CommonAbilities::CommonAbilities(const Settings& settings, const RankNetwork& subsystems)
    : settings_(settings),
      subsystems_(subsystems),
      rolls_back_(can_roll_back(subsystems.network().has_events())),
      evaluated_at_stop_(outputs_need_no_step()) {}

void CommonAbilities::note_events(bool events) {
  rolls_back_ = can_roll_back(events);
  evaluated_at_stop_ = outputs_need_no_step();
}

bool CommonAbilities::outputs_need_no_step() const {
  return everyone([](const auto& d) {
    return d.capabilities.equations || d.events || d.constraint.has_value();
  });
}

bool CommonAbilities::can_roll_back(bool events) const {
  const bool wanted = settings_.takes_back() || events;
  return settings_.method.rolls_back() ||
         (wanted && everyone([](const auto& d) { return d.capabilities.rollback; }));
}

bool CommonAbilities::can_repeat() const {
  return rolls_back_ &&
         everyone([](const auto& d) { return d.capabilities.rollback && d.capabilities.any_step; });
}

bool CommonAbilities::everyone(bool (*can)(const SubsystemDescription&)) const {
  bool all = true;
  for (const std::size_t k : subsystems_.all()) {
    all = all && can(subsystems_.own(k).description());
  }
  return agree_on_largest(subsystems_.comm(), all ? 0 : 1) == 0;
}

}  // namespace concord
