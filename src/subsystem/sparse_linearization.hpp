#pragma once

#include <memory>
#include <span>

#include "concord/subsystem.hpp"
#include "subsystem/sparse_model.hpp"

namespace concord {

/// A subsystem that may know which entries of its linearisation can be other than zero.
class LinearizesSparsely {
 public:
  virtual ~LinearizesSparsely() = default;

  /// At every point; another one where parameters have changed it. Null: not known.
  virtual std::shared_ptr<const LinearPattern> linear_pattern() const = 0;

  /// `Subsystem::linearize`, with the entries of `pattern` in place of whole matrices.
  virtual Outcome linearize_entries(std::span<const Sample> inputs, const LinearPattern& pattern,
                                    Linearization& result) = 0;
};

}  // namespace concord
