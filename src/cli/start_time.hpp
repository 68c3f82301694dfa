#pragma once

namespace concord {

/// Before the model is read: a run that starts from a checkpoint's states starts at its time.
/// Collective.
void choose_start_time();

}  // namespace concord
