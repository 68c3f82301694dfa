#include "cli/study_model.hpp"

#include <cmath>
#include <memory>

#include "concord/errors.hpp"
#include "support/name_patterns.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

std::vector<std::string> keys(const std::map<std::string, ModelNumber>& numbers) {
  std::vector<std::string> result;
  for (const auto& [name, number] : numbers) result.push_back(name);
  return result;
}

}  // namespace

StudyModel::StudyModel(const ModelFileCall& call, std::function<void(Model&)> add)
    : source_([path = call.path, own = call.own, add = std::move(add)](const Changes& values) {
        std::vector<std::string> set = own.all("set");
        set.insert(set.end(), values.begin(), values.end());
        auto model = std::make_shared<Model>(read_model(path, own, set));
        add(*model);
        return model;
      }) {
  const auto model = source_({});
  name_ = model->name;
  numbers_ = numbers_of(*model);
}

std::optional<double> StudyModel::known(const std::string& name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second.value);
}

Varied StudyModel::number(const std::string& name, const std::string& option) const {
  const auto value = known(name);
  if (!value)
    throw InputError(option + " " + in_quotes(name) +
                     ": what it is in the model is not known; if it has such a parameter or start "
                     "value, give its value, " +
                     option + " " + name + "=1.5; " + nearest_names(name, keys(numbers_)));
  return number(name, *value);
}

Varied StudyModel::number(const std::string& name, double value) const {
  const auto found = numbers_.find(name);
  const double nominal = found == numbers_.end() ? 0.0 : std::abs(found->second.nominal);
  return {value, value != 0.0 ? std::abs(value) : nominal > 0.0 ? nominal : 1.0};
}

Options options_of_differences(const std::string& command, const std::string& accuracy) {
  for (const char* file : {"cosim_output", "cosim_checkpoint", "cosim_restart", "cosim_trace"})
    if (options::has(file))
      throw InputError("concord " + command + ": -" + file +
                       " has no meaning, as its runs are in memory; leave it out");
  Options result;
  for (const auto& [name, value] : options::named(options::all()))
    result[name] = value.empty() ? "true" : value;
  const bool said =
      options::has("cosim_accuracy") || options::has("cosim_step") || options::has("cosim_adapt");
  if (!said) result["cosim_accuracy"] = accuracy;
  return result;
}

int ranks_per_run(const GivenWords& own, const std::string& command) {
  return static_cast<int>(whole_number(own, command, "ranks_per_run", 1).value_or(1));
}

}  // namespace concord
