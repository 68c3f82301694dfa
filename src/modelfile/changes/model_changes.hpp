#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace concord {

/// A value that is other than the model says, for one run: --set ball.e=0.9.
struct ModelChange {
  std::string owner;     ///< a subsystem, or `parameters` for those of the whole model
  std::string name;      ///< of a parameter, or of a variable with a start value
  std::string text;      ///< a number, an expression, an FMU's value
  std::string location;  ///< where it is said, for error messages
  std::vector<std::string> items = {};  ///< of an array, instead of `text`
  std::string unit = "";                ///< of the value; empty: that of what it changes
};

using ModelChanges = std::vector<ModelChange>;

/// The owner of the parameters of the whole model.
inline constexpr const char* whole_model = "parameters";

/// A change of "subsystem.name". Throws InputError for any other path.
ModelChange change_of(const std::string& path, const std::string& text,
                      const std::string& location);

/// From words "ball.e=0.9". Throws InputError.
ModelChanges read_changes(std::span<const std::string> words);

/// From a CSV file with lines "ball.e,0.9" (or ; or a tabulator between), a header allowed. Throws
/// InputError.
ModelChanges read_csv_changes(const std::filesystem::path& path);

/// As --set would say them, one per line.
std::string as_words(const ModelChanges& changes);

/// What belongs to each owner. Owners and names may be patterns, which stand for all that they
/// match; what matches nothing is refused in the end.
class ChangesByOwner {
 public:
  explicit ChangesByOwner(const ModelChanges& changes);

  bool empty() const { return changes_.empty(); }

  /// Whether any change is of this owner, or may be.
  bool concern(const std::string& owner) const { return !concerning(owner).empty(); }

  /// Whether a pattern may stand for something of this owner.
  bool has_patterns(const std::string& owner) const;

  /// Of each name the last change, in their order. Patterns stand for those of `names` that they
  /// match.
  ModelChanges of(const std::string& owner, std::span<const std::string> names);

  /// Throws InputError for an owner that is none of these, and for a pattern that has matched
  /// nothing.
  void refuse_others(std::span<const std::string> owners) const;

 private:
  std::vector<std::size_t> concerning(const std::string& owner) const;
  std::vector<std::string> meant_by(std::size_t change, const std::string& owner,
                                    std::span<const std::string> names);

  ModelChanges changes_;  ///< the later ones count
  std::map<std::string, std::vector<std::size_t>> by_owner_;
  std::vector<std::size_t> of_many_;  ///< whose owner is a pattern
  std::vector<char> used_;            ///< by change: it has been one of some owner's
  std::vector<std::string> offered_;  ///< what patterns could have matched
};

}  // namespace concord
