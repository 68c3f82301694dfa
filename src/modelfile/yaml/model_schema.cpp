#include "modelfile/yaml/model_schema.hpp"

#include <utility>
#include <vector>

#include "files/json.hpp"
#include "modelfile/yaml/model_keys.hpp"

namespace concord {
namespace {

using Kind = Shape::Kind;

Json schema_of(const Shape& shape);

/// Of one of these types, or of none where the value may lack.
Json typed(std::vector<std::string> types, const Shape& shape) {
  if (shape.may_lack) {
    types.emplace_back("null");
  }
  Json result;
  result.add("type", types.size() == 1 ? Json::text(types.front()) : Json::texts(types));
  return result;
}

/// Exactly one of the alternatives must be there.
Json alternatives(const std::vector<std::string>& names) {
  std::vector<Json> each;
  for (const std::string& name : names) {
    each.push_back(Json::object().add("required", Json::texts({name})));
  }
  return Json::list(std::move(each));
}

void add_keys(Keys keys, Json& schema) {
  Json properties;
  std::vector<std::string> required, alternative;
  for (const Key& key : keys()) {
    const std::string name(key.name);
    Json value = schema_of(key.shape);
    properties.add(name, std::move(value.add("description", Json::text(std::string(key.meaning)))));
    if (!key.remedy.empty()) {
      required.push_back(name);
    }
    if (key.alternative) {
      alternative.push_back(name);
    }
  }
  schema.add("properties", std::move(properties)).add("additionalProperties", Json::truth(false));
  if (!required.empty()) {
    schema.add("required", Json::texts(required));
  }
  if (!alternative.empty()) {
    schema.add("oneOf", alternatives(alternative));
  }
}

Json list(const Shape& shape) {
  Json result = typed({"array"}, shape);
  result.add("items", schema_of(*shape.each));
  if (shape.count > 0) {
    const Json count = Json::number(static_cast<double>(shape.count));
    result.add("minItems", count).add("maxItems", count);
  }
  return result;
}

Json map(const Shape& shape) {
  Json result = typed({"object"}, shape);
  if (shape.kind == Kind::names) {
    result.add("propertyNames",
               Json::object().add("pattern", Json::text("^[A-Za-z_][A-Za-z0-9_]*$")));
  }
  result.add("additionalProperties", schema_of(*shape.each));
  if (shape.count > 0) {
    const Json count = Json::number(static_cast<double>(shape.count));
    result.add("minProperties", count).add("maxProperties", count);
  }
  return result;
}

Json record(const Shape& shape) {
  Json result = typed({"object"}, shape);
  add_keys(shape.keys, result);
  return result;
}

Json schema_of(const Shape& shape) {
  switch (shape.kind) {
    case Kind::number:
    case Kind::expression:
    case Kind::text:
      return typed({"number", "string"}, shape);
    case Kind::value:
      return typed({"number", "string", "boolean", "array"}, shape);
    case Kind::choice:
      return Json::object().add("enum", Json::texts({shape.words.begin(), shape.words.end()}));
    case Kind::list:
      return list(shape);
    case Kind::names:
    case Kind::paths:
      return map(shape);
    case Kind::record:
      return record(shape);
    case Kind::either:
      return Json::object().add(
          "anyOf", Json::list({schema_of(*shape.each), record({Kind::record, false, shape.keys})}));
  }
  return {};
}

}  // namespace

std::string model_schema() {
  Json schema;
  schema.add("$schema", Json::text("http://json-schema.org/draft-07/schema#"))
      .add("title", Json::text("Model file of Concord " CONCORD_VERSION))
      .add("type", Json::text("object"));
  add_keys(model_keys, schema);
  return schema.written() + "\n";
}

}  // namespace concord
