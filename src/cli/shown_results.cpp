#include "cli/shown_results.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "cli/dense_curves.hpp"
#include "cli/results_options.hpp"
#include "cli/shown_units.hpp"
#include "concord/errors.hpp"
#include "files/replaceable.hpp"
#include "files/text_output.hpp"
#include "files/whole_file.hpp"
#include "files/writer_lock.hpp"
#include "record/results_reader.hpp"
#include "support/name_patterns.hpp"

namespace concord {
namespace {

std::vector<ShownResults::Variable> told(const std::vector<RecordedVariable>& variables) {
  std::vector<ShownResults::Variable> all;
  for (const RecordedVariable& one : variables) all.push_back({one.name, one.display});
  return all;
}

}  // namespace

ShownResults::ShownResults(const std::string& path)
    : results_(std::make_unique<ResultsReader>(path)) {}
ShownResults::~ShownResults() = default;
ShownResults::ShownResults(ShownResults&&) noexcept = default;

std::string ShownResults::model_name() const { return results_->model_name(); }

std::string ShownResults::status() const { return results_->status(); }

std::span<const double> ShownResults::time() const { return results_->time(); }

std::vector<ShownResults::Variable> ShownResults::chosen(
    const std::vector<std::string>& wanted) const {
  return told(select_variables(*results_, wanted));
}

std::vector<ShownResults::Variable> ShownResults::shown(
    const std::vector<std::string>& wanted) const {
  return told(shown_variables(*results_, wanted));
}

ShownResults::Curves ShownResults::curves(const std::vector<Variable>& wanted,
                                          std::optional<std::pair<double, double>> range,
                                          std::size_t least) const {
  const DenseCurves drawn(*results_, range, least);
  Curves curves{{drawn.time().begin(), drawn.time().end()}, {}};
  for (const auto& [name, unit] : wanted) {
    const RecordedVariable* const there = results_->find(name);
    if (there == nullptr) continue;
    RecordedVariable like = *there;
    like.display = unit;
    const RecordedVariable shown = shown_like(like, *there);
    curves.of[name] = {shown.display, drawn.values(shown)};
  }
  return curves;
}

std::vector<ShownResults::Happening> ShownResults::events() const {
  const auto happened = results_->read_events();
  std::vector<Happening> all;
  for (std::size_t i = 0; i < happened.size(); ++i)
    all.push_back({results_->events()[i], happened[i].subsystem, happened[i].what});
  return all;
}

std::vector<std::pair<std::string, double>> ShownResults::costs() const {
  std::vector<std::pair<std::string, double>> all;
  for (const RecordedCost& cost : results_->costs()) all.emplace_back(cost.subsystem, cost.all);
  return all;
}

std::vector<double> ShownResults::numbers(const std::string& path) const {
  return results_->numbers(path);
}

std::vector<std::string> ShownResults::texts(const std::string& path) const {
  return results_->texts(path);
}

std::string ShownResults::text(const std::string& attribute) const {
  return results_->text(attribute.c_str());
}

double ShownResults::number(const std::string& attribute) const {
  return results_->number(attribute.c_str());
}

bool goes_on(const std::string& path) { return is_being_written(path); }

std::vector<std::string> names_in(const std::string& list) { return listed_names(list); }

void write_picture(const std::string& path, const std::string& bytes) {
  require_replaceable(path, FileContent::picture);
  try {
    if (access(path.c_str(), F_OK) == 0 && access(path.c_str(), W_OK) != 0)
      throw std::system_error(errno, std::generic_category());
    replace_file(path, std::as_bytes(std::span(bytes)));
  } catch (const std::system_error& error) {
    throw InputError("cannot write the picture '" + path + "': " + error.code().message() +
                     "; choose a place that exists, has room and may be written to");
  }
}

void write_shown_text(const std::string& path, const std::string& text) {
  TextOutput file(path);
  file.write(text);
  file.close();
}

}  // namespace concord
