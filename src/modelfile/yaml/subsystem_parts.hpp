#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "modelfile/changes/model_changes.hpp"
#include "modelfile/yaml/constants.hpp"
#include "modelfile/yaml/model_text.hpp"
#include "modelfile/yaml/node_reader.hpp"
#include "network/model.hpp"
#include "subsystem/isolated/kept_process.hpp"

namespace concord {

/// What entries of `subsystems:` are read with.
struct SubsystemSurroundings {
  Constants constants;           ///< the model's parameters
  std::vector<Field> templates;  ///< by name
  ChangesByOwner& changes;
  ChangedFields& changed;
  const ModelText& text;
  Model& model;                          ///< that they are added to
  std::string prefix = {};               ///< of their names: "drive."
  std::vector<std::string> files = {};   ///< of systems that they are read from, outer ones first
  std::vector<NodeReader> systems = {};  ///< that they are in, likewise
  /// Where equations stand whose dimensions have been checked: once for all that are made of them.
  std::shared_ptr<std::set<std::string>> checked = std::make_shared<std::set<std::string>>();
  /// In which classes in Python are asked what they are: one for all, as each takes time to start.
  std::shared_ptr<KeptProcess> python = std::make_shared<KeptProcess>();
};

/// What a subsystem is made of, whether it stands in its entry or in a template.
struct SubsystemParts {
  std::vector<Field> kind;  ///< `equations`, `table`, `fmu`, `native`, `python`, `remote`,
                            ///< `messages` or `system`, among others
  std::vector<Field> parameters, start;              ///< beside it
  std::optional<NodeReader> inputs, outputs, units;  ///< beside `remote`
  std::optional<NodeReader> effort, rank, step, isolated, run;
  Constants constants;
};

std::vector<std::string> keys_of(std::initializer_list<const std::vector<Field>*> lists);

/// A change whose value has a unit of its own, in that of what it changes. Throws InputError.
void convert(ModelChange& change, const std::string& unit);

}  // namespace concord
