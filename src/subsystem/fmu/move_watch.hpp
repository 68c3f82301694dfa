#pragma once

namespace concord {

/// Whether an FMU moves although it may be set back, which is looked at in its first macro-steps.
class MoveWatch {
 public:
  bool looks() const { return looks_left_ > 0; }
  void look(bool moved) { looks_left_ = moved ? 0 : looks_left_ - 1; }

 private:
  int looks_left_ = 3;
};

}  // namespace concord
