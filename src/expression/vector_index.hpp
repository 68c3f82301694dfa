#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "expression/expression_tree.hpp"

namespace concord {

/// Elements of a vector or matrix in each dimension.
using VectorShape = std::vector<long>;

/// "T[3]", "A[2,1]".
std::string element_name(const std::string& name, std::span<const long> indices);

/// "a vector of 3 elements", "a matrix of 2 x 3 elements".
std::string in_words(const VectorShape& shape);

std::size_t element_count(const VectorShape& shape);

/// The indices of the element at `place`, counted from 0, beside those of the first one: the last
/// index runs fastest.
std::vector<long> indices_at(std::size_t place, const VectorShape& shape);

/// What texts with vectors are read with, and what they have needed.
struct VectorScope {
  std::unordered_map<std::string, VectorShape> shapes;
  /// Numbers by name, of which sizes and indices may name those that are not `moving`.
  const std::unordered_map<std::string, double>* numbers = nullptr;
  std::shared_ptr<const UserFunctions> functions;  ///< null: none
  std::set<std::string> moving;                    ///< names of what is no parameter
  std::set<std::string> taken;                     ///< names that no index may have
  /// Of the numbers, those that sizes and indices have named: to change them is to write another
  /// model.
  std::set<std::string> fixed;
  /// Sums and the like that many elements have in common, by their texts; their names, which are
  /// elements of vectors that nobody else has.
  std::unordered_map<std::string, std::string> shared;
  std::vector<std::string> shared_texts;  ///< in the order of their names
};

/// A whole number from 1 on, or whatever an index is: an expression of the scope's numbers and of
/// `variables`, which have values.
class IndexExpression {
 public:
  /// `text` stands at `position` of `whole`. Throws InputError.
  IndexExpression(const PlacedExpression& whole, std::size_t position, const std::string& text,
                  std::span<const std::string> variables, VectorScope& scope);
  ~IndexExpression();
  IndexExpression(IndexExpression&&) noexcept;
  IndexExpression& operator=(IndexExpression&&) noexcept;

  /// Throws InputError where it is no whole number.
  long at(std::span<const double> variables) const;
  /// Whether it names one of the first `count` variables.
  bool names_among(std::size_t count) const;
  /// " at i = 2, j = 3", of the variables that it names.
  std::string where(std::span<const double> variables) const;
  const std::string& text() const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace concord
