#include "whole_fmu/instance.hpp"

#include <cstring>
#include <mutex>

#include "support/exception_words.hpp"

namespace concord {
namespace {

std::mutex turns;

/// What is told may be anything's words, and whoever hears them may throw; nothing gets out.
void tell(const WholeInstance& instance, WholeStatus status, const char* function,
          const std::string& words) noexcept {
  const char* category = status == WholeStatus::error     ? "logStatusError"
                         : status == WholeStatus::discard ? "logStatusDiscard"
                                                          : "logStatusWarning";
  try {
    instance.tell(status, category, std::string(function) + ": " + words);
  } catch (...) {
  }
}

WholeStatus guarded(const WholeInstance& instance, const char* function,
                    const std::function<void()>& work) noexcept {
  WholeStatus status = WholeStatus::error;
  try {
    work();
    return WholeStatus::ok;
  } catch (const EndedEarly& end) {
    status = WholeStatus::discard;
    tell(instance, status, function, end.what());
  } catch (...) {
    tell(instance, status, function, in_words(std::current_exception()));
  }
  return status;
}

}  // namespace

int called(void* instance, const char* function, const std::function<void(WholeModel&)>& work) {
  if (instance == nullptr) return static_cast<int>(WholeStatus::error);
  const std::lock_guard turn(turns);
  const auto& self = *static_cast<WholeInstance*>(instance);
  const WholeStatus status = guarded(self, function, [&] { work(*self.model); });
  const std::string warning = self.model->take_warning();
  if (!warning.empty()) tell(self, WholeStatus::warning, function, warning);
  return static_cast<int>(status);
}

WholeInstance* new_instance(WholeInstance::Tell tell, const char* function, const char* token,
                            const std::function<std::filesystem::path()>& find_resources,
                            EventUse events) {
  const std::lock_guard turn(turns);
  auto instance = std::make_unique<WholeInstance>(WholeInstance{std::move(tell)});
  const WholeStatus status = guarded(*instance, function, [&] {
    instance->model =
        std::make_unique<WholeModel>(find_resources(), token == nullptr ? "" : token, events);
  });
  return status == WholeStatus::ok ? instance.release() : nullptr;
}

void delete_instance(void* instance) {
  const std::lock_guard turn(turns);
  delete static_cast<WholeInstance*>(instance);
}

void save(WholeModel& model, void** state) {
  WholeState saved = model.saved();
  if (*state == nullptr)
    *state = new WholeState(std::move(saved));
  else
    *static_cast<WholeState*>(*state) = std::move(saved);
}

const WholeState& state_in(const void* state) {
  if (state == nullptr) throw InputError("there is no state; get one first");
  return *static_cast<const WholeState*>(state);
}

void free_state(void** state) {
  if (state == nullptr) return;
  delete static_cast<WholeState*>(*state);
  *state = nullptr;
}

void serialize(const WholeModel& model, const void* state, void* bytes, std::size_t size) {
  const std::vector<std::byte> all = model.bytes_of(state_in(state));
  if (size < all.size())
    throw InputError("the state takes " + std::to_string(all.size()) +
                     " bytes, and there is room "
                     "for " +
                     std::to_string(size));
  std::memcpy(bytes, all.data(), all.size());
}

void deserialize(const WholeModel& model, const void* bytes, std::size_t size, void** state) {
  *state = new WholeState(model.state_of({static_cast<const std::byte*>(bytes), size}));
}

void refuse(const std::string& what) { throw InputError("this FMU does not offer " + what); }

}  // namespace concord
