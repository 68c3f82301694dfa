#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "expression/vector_text.hpp"
#include "modelfile/yaml/node_reader.hpp"
#include "modelfile/yaml/repetition.hpp"
#include "subsystem/equations/equations_description.hpp"

namespace concord {

/// The name that a key is about: "T" of "T[n]" and of "T[i in 2:n-1]".
std::string name_in(const std::string& key);

/// Those with no brackets.
std::vector<Field> of_single_values(const std::vector<Field>& fields);

/// A section of equations that gives numbers, and what is given in their place.
struct NumberSection {
  std::vector<Field> entries;
  std::vector<Field> overrides = {};  ///< of vectors and their elements; the later ones count
};

/// What equations say of vectors, as scalars named by element: "T[3]".
///
/// Where a section declares (parameters, inputs, states, discrete, variables, outputs) a single key
/// "T[n]" says the size, and the value is for all elements, a list, or element by element. A name
/// with a range, or with several keys, is put together of elements, each of which must be there
/// once. Where a section is about what is declared elsewhere, "T[n]" is the element n, and "T" are
/// all. Every function throws InputError.
class VectorReader {
 public:
  using Number = EquationsDescription::Number;
  using Text = EquationsDescription::Text;
  using When = EquationsDescription::When;
  enum class Lack { refused, allowed };

  /// `constants`: the numbers that sizes and indices may name; elements of parameters are added.
  explicit VectorReader(Constants& constants);
  VectorReader(const VectorReader&) = delete;
  VectorReader& operator=(const VectorReader&) = delete;

  /// Of vectors that expressions may use.
  void declare_parameters(const std::vector<Field>& section);
  void declare(const std::vector<Field>& section);

  /// From here on the index of a round is a number in keys and values.
  void enter(const Repetition& round, const NodeReader& repeat);
  void leave() { rounds_.clear(), round_values_.clear(); }

  /// In their order. Those with no brackets are known numbers.
  std::vector<Number> parameters(const NumberSection& section);
  std::vector<Number> numbers(const NumberSection& section, Lack lack = Lack::refused);
  /// Of a section that declares what it gives.
  std::vector<Text> variables(const std::vector<Field>& section);
  std::vector<Text> outputs(const std::vector<Field>& section);
  /// Of a section about what is declared.
  std::vector<Text> assignments(const std::vector<Field>& section);
  /// The condition and what it sets; of a condition of vectors one for each element, which sets
  /// those elements of vectors of the same size that stand at its place.
  std::vector<When> whens(const NodeReader& condition, const std::vector<Field>& sets);
  /// Names of what is declared, with the sizes that it has: "T[10]".
  std::vector<Field> sized(std::vector<Field> names) const;
  /// Of names and elements, outputs among them.
  std::vector<Number> nominal(const std::vector<Field>& section);
  std::vector<Text> units(const std::vector<Field>& section);

  /// What elements share: definitions to add once all else is read.
  std::vector<Text> shared(const std::string& location) const;
  /// Parameters that say how many there are: fixed once the model is read.
  const std::set<std::string>& fixed() const { return scope_.fixed; }

 private:
  struct Dimension;
  struct Target;
  using Shapes = std::unordered_map<std::string, VectorShape>;
  enum class Meaning { size, elements };

  std::vector<Dimension> dimensions_of(const Field& field, Meaning meaning);
  void add_shapes(const std::vector<Field>& section, Shapes& shapes);
  static Target whole(const std::string& name, const VectorShape& shape);
  Target target_of(const Field& field, Meaning meaning, const Shapes& shapes);
  std::vector<Target> targets_of_name(const Field& field);
  template <class Element, class Make>
  std::vector<Element> declared(const std::vector<Field>& section, const Shapes& shapes,
                                const Make& make);
  template <class Element>
  void place(std::vector<Element> elements, const Target& target, const Field& field,
             const VectorShape& shape, std::span<Element> slots);
  std::vector<std::string> texts_of(const NodeReader& value, const Target& target,
                                    VectorText::Use use);
  std::string single(const NodeReader& value);
  VectorShape shape_of(const NodeReader& value);
  std::vector<Text> sets_of(const Field& field, const VectorShape& shape,
                            const NodeReader& condition);
  std::vector<double> values_of(const NodeReader& value, const Target& target);
  std::vector<double> computed(const std::vector<std::string>& texts, const NodeReader& value);
  std::vector<Text> texts(const Field& field, const Target& target);
  std::vector<Number> numbers(const Field& field, const Target& target, Lack lack);
  void override(const std::vector<Field>& overrides, std::vector<Number>& numbers);

  Constants& constants_;
  VectorScope scope_;
  Shapes output_shapes_;
  std::vector<std::string> rounds_;   ///< the index of the round that is read, or none
  std::vector<double> round_values_;  ///< of it
};

}  // namespace concord
