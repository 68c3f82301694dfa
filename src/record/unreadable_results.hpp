#pragma once

#include "concord/api.hpp"
#include "concord/errors.hpp"

namespace concord {

/// As the file is now; while a run writes it, it may be readable a moment later.
class CONCORD_API UnreadableResults : public InputError {
  using InputError::InputError;
};

}  // namespace concord
