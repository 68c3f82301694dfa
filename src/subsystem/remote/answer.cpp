#include "subsystem/remote/answer.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace concord {
namespace {

using Json = nlohmann::json;

enum class Form { unknown, number, numbers, text, texts, bytes, flag };

constexpr std::pair<std::string_view, Form> forms[] = {
    {"n", Form::number},     {"protocol", Form::number}, {"offers", Form::texts},
    {"inputs", Form::texts}, {"outputs", Form::texts},   {"y", Form::numbers},
    {"dy", Form::numbers},   {"state", Form::bytes},     {"error", Form::text},
    {"refused", Form::text}, {"unknown", Form::flag},    {"calls", Form::text},
    {"result", Form::bytes}};

Form form_of(std::string_view key) {
  for (const auto& [name, form] : forms)
    if (name == key) return form;
  return Form::unknown;
}

/// Takes MessagePack's values as they come, so that nothing in them can be too deep; what stands
/// under keys that nobody knows is passed over.
class AnswerReader {
 public:
  explicit AnswerReader(RemoteAnswer& answer) : answer_(answer) {}

  const std::string& reason() const { return reason_; }

  bool start_object(std::size_t /*size*/) {
    return (depth_ == 0 || form_ == Form::unknown || wrong("a map")) && enter();
  }
  bool end_object() { return leave(); }
  bool start_array(std::size_t /*size*/) {
    if (depth_ == 0) return no_map();
    const bool fits = depth_ == 1 && (form_ == Form::numbers || form_ == Form::texts);
    if (!fits && form_ != Form::unknown) return wrong("a list");
    if (fits) begin_list();
    return enter();
  }
  bool end_array() { return leave(); }
  bool key(const std::string& name) {
    if (depth_ > 1) return true;
    key_ = name;
    form_ = form_of(name);
    return true;
  }

  bool null() { return depth_ > 0 || no_map(); }
  bool boolean(bool value) {
    if (!fits(Form::flag, Form::flag)) return wrong("a truth value");
    if (form_ == Form::flag) answer_.unknown = value;
    return true;
  }
  bool number_integer(std::int64_t value) { return number(static_cast<double>(value)); }
  bool number_unsigned(std::uint64_t value) { return number(static_cast<double>(value)); }
  bool number_float(double value, const std::string& /*text*/) { return number(value); }
  bool string(const std::string& value) {
    if (!fits(Form::text, Form::texts)) return wrong("a text");
    if (form_ == Form::text)
      (key_ == "error"     ? answer_.error
       : key_ == "refused" ? answer_.refused
                           : answer_.calls) = value;
    if (form_ == Form::texts) texts_->push_back(value);
    return true;
  }
  bool binary(Json::binary_t& value) {
    if (!fits(Form::bytes, Form::bytes)) return wrong("bytes");
    if (form_ == Form::bytes)
      (key_ == "state" ? answer_.state : answer_.result) =
          std::move(static_cast<std::vector<std::uint8_t>&>(value));
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const Json::exception& /*error*/) {
    return refuse("is no MessagePack (byte " + std::to_string(position) + ")");
  }

 private:
  static constexpr int deepest = 16;

  bool refuse(std::string reason) {
    if (reason_.empty()) reason_ = std::move(reason);
    return false;
  }
  bool no_map() { return refuse("is no map of MessagePack"); }
  bool wrong(const char* what) {
    return depth_ == 0 ? no_map() : refuse(std::string("has ") + what + " under '" + key_ + "'");
  }

  /// Whether a value of this form may stand here, alone or in a list.
  bool fits(Form alone, Form listed) const {
    return depth_ > 0 && (form_ == Form::unknown || form_ == (depth_ == 1 ? alone : listed));
  }
  bool enter() { return ++depth_ <= deepest || refuse("has lists within lists without end"); }
  bool leave() {
    --depth_;
    return true;
  }

  void begin_list() {
    if (form_ == Form::numbers) numbers_ = &(key_ == "y" ? answer_.y : answer_.dy).emplace();
    if (form_ == Form::texts)
      texts_ = key_ == "offers" ? &answer_.offers
                                : &(key_ == "inputs" ? answer_.inputs : answer_.outputs).emplace();
  }

  bool number(double value) {
    if (!fits(Form::number, Form::numbers)) return wrong("a number");
    if (form_ == Form::numbers) numbers_->push_back(value);
    if (form_ == Form::number) (key_ == "n" ? answer_.n : answer_.protocol) = std::llround(value);
    return true;
  }

  RemoteAnswer& answer_;
  std::string key_, reason_;
  Form form_ = Form::unknown;
  int depth_ = 0;
  std::vector<double>* numbers_ = nullptr;  ///< to which a list goes
  std::vector<std::string>* texts_ = nullptr;
};

}  // namespace

std::optional<std::string> read_answer(std::span<const std::uint8_t> bytes, RemoteAnswer& answer) {
  AnswerReader reader(answer);
  if (Json::sax_parse(bytes.begin(), bytes.end(), &reader, Json::input_format_t::msgpack))
    return std::nullopt;
  return reader.reason().empty() ? "is no MessagePack" : reader.reason();
}

}  // namespace concord
