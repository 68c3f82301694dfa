#include "cli/lone_output.hpp"

#include <cstdio>

#include "cli/results_commands.hpp"
#include "cli/results_options.hpp"
#include "concord/errors.hpp"
#include "support/name_patterns.hpp"
#include "support/options.hpp"
#include "support/petsc.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"

namespace concord {

LoneOutput::LoneOutput(const FmuWords& words, const Model& model)
    : results_(options::text("cosim_output").value_or(model.name + ".h5")),
      file_(words.output_file.string()) {
  const SubsystemDescription& fmu = model.subsystems.front().description;
  owner_ = fmu.name + ".";
  for (const OutputVariable& output : fmu.outputs) variables_.push_back(output.name);
  if (words.output_variables.empty()) return;
  for (const InputVariable& input : fmu.inputs) variables_.push_back(input.name);
  for (const StateVariable& state : fmu.states) variables_.push_back(state.name);
  variables_ = chosen_names(words.output_variables, variables_,
                            "the outputs, inputs and states of " + model.source);
  if (file_.empty())
    throw InputError(
        "option --output-variable: chooses columns of --output-file, which is not given; give "
        "--output-file out.csv");
}

void LoneOutput::write() const {
  const int rank = rank_in(PETSC_COMM_WORLD);
  if (file_.empty() || rank != 0) return;
  const ResultsReader results(results_);
  std::vector<RecordedVariable> columns;
  for (const std::string& name : variables_) {
    const RecordedVariable* found = results.find(owner_ + name);
    if (found == nullptr)
      throw InputError("option --output-file: " + in_quotes(name) + " is not recorded in " +
                       results_ + "; leave out -cosim_record");
    columns.push_back(*found);
    columns.back().name = name;
  }
  write_table(results, columns, {own_rows(results), EventLines::right}, file_);
  std::printf("  table                 %s\n", file_.c_str());
}

}  // namespace concord
