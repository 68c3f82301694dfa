#include "subsystem/fmu/fmu_texts.hpp"

#include <utility>

#include "concord/errors.hpp"
#include "support/hex_text.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

std::vector<TextVariable> elements_of(const std::vector<const FmiVariable*>& variables) {
  std::vector<TextVariable> result;
  for (const FmiVariable* variable : variables)
    for (std::size_t i = 0; i < variable->size; ++i)
      result.push_back({element_name(*variable, i),
                        variable->type == FmiType::binary ? TextKind::bytes : TextKind::text,
                        variable->mime, variable->most_bytes, !variable->clocks.empty()});
  return result;
}

}  // namespace

std::shared_ptr<const TextInterface> texts_of(const FmuSetup& setup) {
  TextInterface result{elements_of(setup.text_inputs), elements_of(setup.text_outputs)};
  if (result.inputs.empty() && result.outputs.empty()) return nullptr;
  return std::make_shared<const TextInterface>(std::move(result));
}

FmuTexts::FmuTexts(const FmuSetup& setup)
    : setup_(&setup), fed_(setup.text_inputs.size()), refused_(setup.text_outputs.size()) {
  for (const FmiVariable* variable : setup.text_inputs) {
    std::vector<std::string> texts = variable->start;
    for (const FmuStart& start : setup.input_starts)
      if (start.variable == variable) texts = start.texts;
    texts.resize(variable->size, texts.empty() ? "" : texts.back());
    for (const std::string& text : texts)
      inputs_.push_back(variable->type == FmiType::binary ? bytes_of_hex(text).value_or("") : text);
  }
}

bool FmuTexts::take(std::span<const Texts> texts, ClockMemory& clocks) {
  bool due = false;
  std::size_t i = 0;
  for (std::size_t v = 0; v < fed_.size(); ++v) {
    const FmiVariable& variable = *setup_->text_inputs[v];
    for (const std::size_t end = i + variable.size; i < end; ++i) {
      for (const std::string& text : texts[i])
        if (variable.most_bytes > 0 && text.size() > variable.most_bytes)
          throw SimulationError("input " + in_quotes(setup_->texts->inputs[i].name) +
                                " takes at most " + std::to_string(variable.most_bytes) +
                                " bytes (maxSize), and is fed " + std::to_string(text.size()));
      if (texts[i].empty()) continue;
      if (!variable.clocks.empty()) {
        clocks.heard[i].insert(clocks.heard[i].end(), texts[i].begin(), texts[i].end());
        continue;
      }
      inputs_[i] = texts[i].back();
      fed_[v] = 1;
      due = true;
    }
  }
  return due;
}

bool FmuTexts::set(FmuInstance& instance) const {
  std::span<const std::string> left = inputs_;
  for (std::size_t v = 0; v < fed_.size(); ++v) {
    const FmiVariable& variable = *setup_->text_inputs[v];
    if (fed_[v] != 0 && !instance.put_texts(variable, left.first(variable.size))) return false;
    left = left.subspan(variable.size);
  }
  return true;
}

bool FmuTexts::put_out(FmuInstance& instance, ClockMemory& clocks, std::span<Texts> texts) {
  if (instance.mode() == FmuMode::failed) return false;
  std::size_t i = 0;
  for (std::size_t v = 0; v < refused_.size(); ++v) {
    const FmiVariable& variable = *setup_->text_outputs[v];
    if (!variable.clocks.empty()) {
      for (const std::size_t end = i + variable.size; i < end; ++i)
        std::swap(texts[i], clocks.said[i]);
      continue;
    }
    read_.assign(variable.size, "");
    if (refused_[v] == 0 && !instance.get_texts(variable, read_)) {
      refused_[v] = 1;
      tell(*setup_, "output " + in_quotes(variable.name) + " cannot be read (" +
                        instance.failure() + "): it stays empty");
    }
    for (std::string& text : read_) texts[i++].push_back(std::move(text));
  }
  return true;
}

}  // namespace concord
