#include "modelfile/yaml/remote_reader.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "modelfile/yaml/model_keys.hpp"
#include "settings/settings.hpp"
#include "subsystem/remote/remote.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Fields = std::vector<Field>;

constexpr double default_timeout = 60.0;  ///< s

Fields section(const std::optional<NodeReader>& node, const char* role, const std::string& owner) {
  return node ? node->named_fields(role, owner) : Fields{};
}

std::string read_address(const NodeReader& node, RemoteSide side) {
  std::string address = node.text();
  if (!is_remote_address(address, side))
    node.fail(std::string("must be ") + remote_addresses + ", found " + in_quotes(address));
  return address;
}

RemoteOffers read_offers(const NodeReader& node) {
  RemoteOffers offers;
  bool* const places[] = {&offers.state, &offers.polynomials, &offers.slopes};
  const std::vector<std::string> names(std::begin(remote_offers), std::end(remote_offers));
  for (const NodeReader& item : node.items("offer")) {
    const auto found = std::ranges::find(names, item.text());
    if (found == names.end()) item.fail("is no offer; " + known("offers", item.text(), names));
    *places[found - names.begin()] = true;
  }
  return offers;
}

/// Of an input, parameter or output what is set for this run counts more.
class RemoteReader {
 public:
  RemoteReader(const std::string& name, const NodeReader& node, SubsystemParts parts,
               const SubsystemSurroundings& around)
      : node_(node), parts_(std::move(parts)), around_(around) {
    remote_ = read_connection(name, node, parts_);
  }

  RemoteDescription read() {
    const std::string& of = node_.what();
    if (parts_.inputs) inputs_ = parts_.inputs->fields_or_names("input", of);
    outputs_ = section(parts_.outputs, "output", of);
    units_ = section(parts_.units, "unit", of);
    if (!parts_.start.empty())
      throw InputError(parts_.start.front().key_location + ": " + of +
                       " has its start values under 'inputs' and 'outputs'");
    take_changes();
    fill();
    return std::move(remote_);
  }

 private:
  void take_changes();
  void fill();
  void check_units() const;
  double number_of(const Field& field) const;
  std::string unit_of(const std::string& name) const;

  const NodeReader& node_;
  SubsystemParts parts_;
  const SubsystemSurroundings& around_;
  Fields inputs_, outputs_, units_;
  RemoteDescription remote_;
};

void RemoteReader::take_changes() {
  const std::vector<std::string> names = keys_of({&parts_.parameters, &inputs_, &outputs_});
  for (ModelChange& change : around_.changes.of(remote_.subsystem, names)) {
    convert(change, unit_of(change.name));
    Fields* const lists[] = {&inputs_, &outputs_, &parts_.parameters};
    const auto list = std::ranges::find_if(
        lists, [&](const Fields* fields) { return find_field(*fields, change.name).has_value(); });
    if (list == std::end(lists))
      throw InputError(change.location + ": " + node_.what() +
                       " has no input, output or parameter " + in_quotes(change.name) + "; " +
                       known("names", change.name, names));
    **list = merged(std::move(**list), around_.changed.of({change}, node_.what()));
  }
}

double RemoteReader::number_of(const Field& field) const {
  return field.value.number(parts_.constants, unit_of(field.key));
}

std::string RemoteReader::unit_of(const std::string& name) const {
  const auto unit = find_field(units_, name);
  return unit && !unit->is_null() ? unit->text() : "";
}

void RemoteReader::check_units() const {
  const std::vector<std::string> names = keys_of({&inputs_, &outputs_});
  for (const Field& unit : units_)
    if (std::ranges::find(names, unit.key) == names.end())
      throw InputError(unit.key_location + ": " + node_.what() + " has no input or output " +
                       in_quotes(unit.key) + "; " + known("names", unit.key, names));
}

void RemoteReader::fill() {
  check_units();
  for (const Field& output : outputs_) {
    if (find_field(inputs_, output.key))
      throw InputError(output.key_location + ": " + node_.what() + " has an input " +
                       in_quotes(output.key) + ", too");
    remote_.outputs.push_back({output.key, unit_of(output.key)});
    remote_.output_starts.push_back(number_of(output));
  }
  for (const Field& input : inputs_)
    remote_.inputs.push_back(
        {input.key, unit_of(input.key),
         input.value.is_null() ? std::nullopt : std::optional(number_of(input))});
  for (const Field& parameter : parts_.parameters) {
    remote_.parameters.push_back(parameter.key);
    remote_.parameter_values.push_back(number_of(parameter));
  }
  if (remote_.outputs.empty() && remote_.inputs.empty())
    node_.fail("needs inputs or outputs beside 'remote'");
}

}  // namespace

RemoteDescription read_connection(const std::string& name, const NodeReader& owner,
                                  const SubsystemParts& parts) {
  RemoteDescription result;
  result.subsystem = name;
  result.location = owner.location();
  const NodeReader node = *find_field(parts.kind, "remote");
  const Fields fields = node.fields_among(remote_keys);
  const auto connect = find_field(fields, "connect"), listen = find_field(fields, "listen");
  const auto timeout = find_field(fields, "timeout"), offers = find_field(fields, "offers");
  if (connect.has_value() == listen.has_value())
    node.fail(
        "needs either 'connect', the address at which a process listens, or 'listen', that "
        "to which one connects");
  result.side = connect ? RemoteSide::connects : RemoteSide::listens;
  result.address = read_address(connect ? *connect : *listen, result.side);
  if (offers) result.offers = read_offers(*offers);
  const double own = timeout ? timeout->number(parts.constants) : 0.0;
  if (timeout && !(own > 0.0)) timeout->fail("must be a time in s, greater than zero");
  IsolationOptions options;
  options.call_limit = own;
  options = read_isolation_options(name, options);
  result.limit = options.call_limit > 0.0 ? options.call_limit : default_timeout;
  return result;
}

bool is_whole(const SubsystemParts& parts) {
  const auto remote = find_field(parts.kind, "remote");
  if (!remote) return false;
  const auto whole = find_field(remote->fields_among(remote_keys), "whole");
  return whole && whole->flag();
}

SubsystemEntry remote_entry(const std::string& name, const NodeReader& node, SubsystemParts parts,
                            const SubsystemSurroundings& around) {
  SubsystemEntry entry;
  entry.location = node.location();
  const auto remote = std::make_shared<const RemoteDescription>(
      RemoteReader(name, node, std::move(parts), around).read());
  entry.description = describe_remote(*remote);
  entry.type.own().create = [remote, link = make_remote_link(remote->address, remote->side)](
                                const SubsystemEntry&, const SubsystemSettings& settings) {
    return make_remote_subsystem(remote, link, settings);
  };
  return entry;
}

}  // namespace concord
