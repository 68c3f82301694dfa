#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "expression/expression_tree.hpp"
#include "expression/vector_index.hpp"

namespace concord {

/// An expression in which vectors stand: elements T[i-1], whole vectors and slices T[2:n], sum,
/// dot, min and max over them, `sum(expression for i in 1:n)`. As the expressions of scalars that
/// it means for the elements of what it is given to.
class VectorText {
 public:
  /// Whether it is written out once or for many elements, which then share what they have in
  /// common.
  enum class Use { once, often };

  /// `indices`: names of variables with whole values. Throws InputError.
  VectorText(PlacedExpression text, std::vector<std::string> indices, Use use, VectorScope& scope);
  ~VectorText();
  VectorText(const VectorText&) = delete;
  VectorText& operator=(const VectorText&) = delete;

  /// Whether it is the same for all elements, as it stands.
  bool is_plain() const;

  /// Of what is whole in it; empty where it is one value. Throws InputError where parts differ.
  VectorShape shape(std::span<const double> indices) const;

  /// `element` counts from 1 in the shape; empty for one value. Throws InputError for elements that
  /// are not there.
  std::string written(std::span<const double> indices, std::span<const long> element) const;

 private:
  class Reader;
  class Writer;
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace concord
