#include "subsystem/advance_batches.hpp"

#include <algorithm>

#include "subsystem/ode/batch_member.hpp"

namespace concord {

namespace {

/// So few that what their stages need stays in the cache until they advance; with fewer than the
/// other number nothing is won.
constexpr std::size_t most_members = 128, fewest_members = 4;

/// Members of one batch to be.
struct Group {
  const ErkPair* pair;
  std::vector<WholeSteps::Member> members;
  std::vector<RightHandSide*> rhs;
  std::vector<std::size_t> positions;

  bool takes(const ErkPair& other, const BatchModel& model) const {
    return &other == pair && members.size() < most_members && members.front().in_batch->fits(model);
  }
};

/// Newest groups first: neighbours mostly fit.
Group& group_for(std::vector<Group>& groups, const ErkPair& pair, const BatchModel& model) {
  constexpr std::ptrdiff_t most_looked_at = 16;
  const auto end = groups.rend() - groups.rbegin() > most_looked_at
                       ? groups.rbegin() + most_looked_at
                       : groups.rend();
  const auto found = std::find_if(groups.rbegin(), end,
                                  [&](const Group& group) { return group.takes(pair, model); });
  return found != end ? *found : groups.emplace_back(Group{&pair, {}, {}, {}});
}

std::vector<Group> groups_of(std::span<const BatchCandidate> subsystems) {
  std::vector<Group> groups;
  for (std::size_t k = 0; k < subsystems.size(); ++k) {
    auto* const member = dynamic_cast<BatchMember*>(subsystems[k].subsystem);
    const WholeStepTaker taker = member != nullptr ? member->whole_step_taker() : WholeStepTaker{};
    if (taker.rhs == nullptr) continue;
    CheckedModel& model = taker.rhs->model();
    auto* const in_batch = dynamic_cast<BatchModel*>(&model.native());
    if (in_batch == nullptr) continue;
    const ErkPair& pair = erk_pair(taker.rhs->weights().tolerance().relative);
    Group& group = group_for(groups, pair, *in_batch);
    group.members.push_back({&model, in_batch, taker.x, subsystems[k].first_input});
    group.rhs.push_back(taker.rhs);
    group.positions.push_back(k);
  }
  return groups;
}

}  // namespace

std::vector<SubsystemBatch> make_advance_batches(std::span<const BatchCandidate> subsystems) {
  std::vector<SubsystemBatch> result;
  for (Group& group : groups_of(subsystems)) {
    if (group.members.size() < fewest_members) continue;
    auto batch = std::make_unique<WholeSteps>(*group.pair, std::move(group.members));
    for (std::size_t lane = 0; lane < group.rhs.size(); ++lane)
      group.rhs[lane]->take_from({*batch, lane});
    result.push_back({std::move(batch), std::move(group.positions)});
  }
  return result;
}

}  // namespace concord
