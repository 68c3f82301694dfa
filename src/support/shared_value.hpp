#pragma once

#include <memory>

namespace concord {

/// A value that copies share until one of them changes its own; it takes no room as long as it is
/// as it was made.
template <class Value>
class SharedValue {
 public:
  const Value& operator*() const {
    static const Value as_made;
    return value_ ? *value_ : as_made;
  }
  const Value* operator->() const { return &**this; }

  /// To be changed here alone.
  Value& own() {
    if (!value_ || value_.use_count() > 1) value_ = std::make_shared<Value>(**this);
    return *value_;
  }

  bool shares_with(const SharedValue& other) const { return value_ == other.value_; }

 private:
  std::shared_ptr<Value> value_;
};

}  // namespace concord
