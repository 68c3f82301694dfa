#include "subsystem/remote/question.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "concord/errors.hpp"

namespace concord {
namespace {

using Json = nlohmann::json;

/// Takes MessagePack's values as they come, so that nothing in them can be too deep.
class QuestionReader {
 public:
  explicit QuestionReader(Json& question) : question_(question) {}

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(std::int64_t value) { return put(value); }
  bool number_unsigned(std::uint64_t value) { return put(value); }
  bool number_float(double value, const std::string& /*text*/) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(Json::binary_t& value) { return put(std::move(value)); }
  bool start_object(std::size_t /*size*/) { return put(Json::object()) && enter(); }
  bool end_object() { return leave(); }
  bool start_array(std::size_t /*size*/) { return put(Json::array()) && enter(); }
  bool end_array() { return leave(); }
  bool key(std::string& name) {
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const Json::exception& /*error*/) {
    return false;
  }

 private:
  static constexpr std::size_t deepest = 4;

  bool put(Json value) {
    if (within_.empty()) {
      question_ = std::move(value);
      last_ = &question_;
    } else if (within_.back()->is_array()) {
      last_ = &within_.back()->emplace_back(std::move(value));
    } else {
      last_ = &((*within_.back())[key_] = std::move(value));
    }
    return true;
  }
  bool enter() {
    within_.push_back(last_);
    return within_.size() <= deepest;
  }
  bool leave() {
    within_.pop_back();
    return true;
  }

  Json& question_;
  std::vector<Json*> within_;  ///< lists and maps that have begun
  Json* last_ = nullptr;       ///< what was put last
  std::string key_;
};

}  // namespace

Json read_question(std::span<const std::uint8_t> bytes) {
  Json question;
  QuestionReader reader(question);
  if (!Json::sax_parse(bytes.begin(), bytes.end(), &reader, Json::input_format_t::msgpack) ||
      !question.is_object())
    throw SimulationError("a question that is no map of MessagePack, or has lists too deep in it");
  return question;
}

}  // namespace concord
