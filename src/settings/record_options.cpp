#include "settings/record_options.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "concord/errors.hpp"

namespace concord {
namespace {

struct Part {
  const char* word;
  bool RecordSettings::*wanted;
};

constexpr Part parts[] = {{"outputs", &RecordSettings::outputs},
                          {"inputs", &RecordSettings::inputs},
                          {"states", &RecordSettings::states},
                          {"polynomials", &RecordSettings::polynomials},
                          {"balance", &RecordSettings::balance}};

std::string list_of(const RecordSettings* record, const char* separator) {
  std::vector<std::string> words;
  for (const Part& part : parts) {
    if (record == nullptr || record->*part.wanted) {
      words.emplace_back(part.word);
    }
  }
  return joined(words, separator);
}

void want(RecordSettings& record, const std::string& word) {
  const auto* part = std::find_if(std::begin(parts), std::end(parts),
                                  [&](const Part& one) { return one.word == word; });
  if (part == std::end(parts)) {
    throw InputError("option -cosim_record: found '" + word +
                     "', but the value must be a list of: " + list_of(nullptr, ", ") + "; or none");
  }
  record.*part->wanted = true;
}

}  // namespace

std::string recorded(const RecordSettings& record) {
  const std::string list = list_of(&record, ",");
  return list.empty() ? "none" : list;
}

void choose_recorded(Settings& settings, const std::optional<std::string>& given) {
  RecordSettings& record = settings.record;
  if (!given) {
    record.balance = settings.method.balance != Balance::none;
    return;
  }
  for (const Part& part : parts) {
    record.*part.wanted = false;
  }
  std::istringstream words(*given == "none" ? "" : *given + ",");
  for (std::string word; std::getline(words, word, ',');) {
    want(record, word);
  }
  record.inputs = record.inputs || record.polynomials;
}

}  // namespace concord
