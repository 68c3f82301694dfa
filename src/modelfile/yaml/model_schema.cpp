#include "modelfile/yaml/model_schema.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "modelfile/yaml/model_keys.hpp"

namespace concord {
namespace {

using Kind = EntryShape::Kind;
using Json = nlohmann::ordered_json;

Json schema_of(const EntryShape& shape);

/// Of one of these types, or of none where the value may lack.
Json typed(std::vector<std::string> types, const EntryShape& shape) {
  if (shape.may_lack) {
    types.emplace_back("null");
  }
  Json result;
  if (types.size() == 1) {
    result["type"] = types.front();
  } else {
    result["type"] = types;
  }
  return result;
}

/// Exactly one of the alternatives must be there.
Json alternatives(const std::vector<std::string>& names) {
  Json each = Json::array();
  for (const std::string& name : names) {
    Json one;
    one["required"] = std::vector<std::string>{name};
    each.push_back(one);
  }
  return each;
}

void add_keys(Keys keys, Json& schema) {
  Json properties = Json::object();
  std::vector<std::string> required, alternative;
  for (const Key& key : keys()) {
    const std::string name(key.name);
    properties[name] = schema_of(key.shape);
    properties[name]["description"] = key.meaning;
    if (!key.remedy.empty()) {
      required.push_back(name);
    }
    if (key.alternative) {
      alternative.push_back(name);
    }
  }
  schema["properties"] = properties;
  schema["additionalProperties"] = false;
  if (!required.empty()) {
    schema["required"] = required;
  }
  if (!alternative.empty()) {
    schema["oneOf"] = alternatives(alternative);
  }
}

Json list(const EntryShape& shape) {
  Json result = typed({"array"}, shape);
  result["items"] = schema_of(*shape.each);
  if (shape.paired != nullptr) {
    result["type"] = std::vector<std::string>{"array", "object", "null"};
    result["additionalProperties"] = schema_of(*shape.paired);
  }
  if (shape.count > 0) {
    result["minItems"] = result["maxItems"] = shape.count;
  }
  return result;
}

Json map(const EntryShape& shape) {
  Json result = typed({"object"}, shape);
  const std::string name = "^[A-Za-z_][A-Za-z0-9_]*";
  if (shape.kind == Kind::names) {
    result["propertyNames"]["pattern"] = name + "$";
  }
  result["additionalProperties"] = schema_of(*shape.each);
  if (shape.kind == Kind::vectors) {
    result["propertyNames"]["pattern"] = name + "(\\[.+\\])?$";
    result["additionalProperties"]["type"].push_back("array");
  }
  if (shape.listable) {
    Json item;
    item["type"] = "string";
    item["pattern"] = result["propertyNames"]["pattern"];
    result["type"] = std::vector<std::string>{"object", "array", "null"};
    result["items"] = item;
  }
  if (shape.count > 0) {
    result["minProperties"] = result["maxProperties"] = shape.count;
  }
  return result;
}

Json record(const EntryShape& shape) {
  Json result = typed({"object"}, shape);
  add_keys(shape.keys, result);
  return result;
}

/// Systems hold systems: they are described once.
Json system_reference() {
  Json result;
  result["$ref"] = "#/definitions/system";
  return result;
}

Json schema_of(const EntryShape& shape) {
  Json result;
  switch (shape.kind) {
    case Kind::number:
    case Kind::expression:
    case Kind::text:
      return typed({"number", "string"}, shape);
    case Kind::flag:
      return typed({"boolean"}, shape);
    case Kind::value:
      return typed({"number", "string", "boolean", "array"}, shape);
    case Kind::choice:
      result["enum"] = std::vector<std::string>(shape.words.begin(), shape.words.end());
      return result;
    case Kind::list:
      return list(shape);
    case Kind::names:
    case Kind::paths:
    case Kind::vectors:
      return map(shape);
    case Kind::record:
      return record(shape);
    case Kind::either:
      result["anyOf"] = {schema_of(*shape.each), shape.keys == system_keys
                                                     ? system_reference()
                                                     : record({Kind::record, false, shape.keys})};
      return result;
  }
  return result;
}

}  // namespace

std::string model_schema() {
  Json schema;
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "Model file of Concord " CONCORD_VERSION;
  schema["type"] = "object";
  add_keys(model_keys, schema);
  schema["definitions"]["system"] = record({Kind::record, false, system_keys});
  return schema.dump(2) + "\n";
}

}  // namespace concord
