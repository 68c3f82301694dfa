#pragma once

namespace concord {

class FmuInstance;
struct ForeignPlace;

/// Says that an instance lives. FMUs give callbacks a pointer of their own instead of the one they
/// were given, a null pointer, or one of an instance that is gone: it is looked up, never followed.
class LiveInstance {
 public:
  LiveInstance(FmuInstance& instance, const ForeignPlace& place);
  ~LiveInstance();
  LiveInstance(const LiveInstance&) = delete;
  LiveInstance& operator=(const LiveInstance&) = delete;

  /// The live instance at `pointer`, else the one whose function is running, else null. Callable
  /// from any thread.
  static FmuInstance* at(const void* pointer);

 private:
  const FmuInstance& instance_;
  const ForeignPlace& place_;
};

}  // namespace concord
