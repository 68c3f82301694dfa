#pragma once

#include <mpi.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/fmu_words.hpp"
#include "modelfile/changes/model_changes.hpp"
#include "network/model.hpp"

namespace concord {

/// `concord COMMAND MODEL -options`, read.
struct ModelCall {
  Model model;
  std::string command_line;  ///< for the results file
  const FmuWords* fmu;       ///< of an FMU alone; null: a model file
  GivenWords own;            ///< the command's own words
};

/// `concord COMMAND MODEL -options` of a model file that is read later, and more than once.
struct ModelFileCall {
  std::string path;
  std::string command_line;  ///< for the results file
  GivenWords own;            ///< the command's own words
};

/// What every command with a model takes: --set left.m=2, --parameters FILE.
std::vector<CommandWord> words_of_models(std::vector<CommandWord> others = {});

/// What --time says, s. Throws InputError.
std::optional<double> time_in(const GivenWords& own, const std::string& command);

/// What --name says, from `smallest` on. Throws InputError.
std::optional<long> whole_number(const GivenWords& own, const std::string& command,
                                 const std::string& name, long smallest);

/// Runs `work` on every rank, with MPI and PETSc up, on the model that `arguments` name. The
/// command's own words are no options of PETSc's; they and options may stand before MODEL.
int with_model(const Command& command, const Arguments& arguments,
               const std::function<int(ModelCall)>& work);

/// `with_model` inside a program whose MPI and PETSc are up: options go into a database of their
/// own, and errors are thrown, the same on every rank: InputError, SimulationError.
void with_model_inside(const Command& command, const Arguments& arguments,
                       const std::function<void(ModelCall)>& work);

/// The same without reading it.
int with_model_file(const Command& command, const Arguments& arguments,
                    const std::function<int(ModelFileCall)>& work);

/// What the files of --parameters and then the words "left.m=2" say. Throws InputError.
ModelChanges changes_in(const GivenWords& own, const std::vector<std::string>& set);

/// The model with what the files of --parameters and then the words "left.m=2" say. Throws
/// InputError.
Model read_model(const std::string& path, const GivenWords& own,
                 const std::vector<std::string>& set);

/// What files that options name say of it: efforts and weights for its schedule. Collective.
void take_option_files(Model& model, MPI_Comm comm);

}  // namespace concord
