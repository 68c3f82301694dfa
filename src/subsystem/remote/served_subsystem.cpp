#include "subsystem/remote/served_subsystem.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "concord/errors.hpp"
#include "subsystem/remote/question.hpp"
#include "support/exception_words.hpp"
#include "support/foreign_call.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_sessions = 64;  ///< of which those that have ended without a word go

/// Places of these names among those; empty where they are others, which the run finds out.
std::vector<std::size_t> places_of(const std::vector<std::string>& names,
                                   const std::vector<std::string>& among) {
  std::vector<std::size_t> places;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(among, name);
    if (found != among.end()) places.push_back(static_cast<std::size_t>(found - among.begin()));
  }
  return places.size() == among.size() && names.size() == among.size() ? places
                                                                       : std::vector<std::size_t>{};
}

Polynomial polynomial_of(const Json& input) {
  Polynomial result{};
  if (!input.is_array()) {
    result.c[0] = input.get<double>();
    return result;
  }
  if (input.size() > result.c.size())
    throw SimulationError("an input of degree " + std::to_string(input.size() - 1) + ", which is " +
                          std::to_string(result.c.size() - 1) + " at most");
  for (std::size_t i = 0; i < input.size(); ++i) result.c[i] = input[i].get<double>();
  return result;
}

void require(Outcome outcome, const Subsystem& subsystem) {
  if (outcome == Outcome::failed) throw RecoverableFailure(subsystem.failure());
}

std::vector<std::uint8_t> state_of(Subsystem& subsystem) {
  Archive archive;
  if (!subsystem.io(archive)) throw SimulationError(subsystem.failure());
  const auto bytes = archive.bytes();
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return {begin, begin + bytes.size()};
}

}  // namespace

std::size_t tunable_parameter(const SubsystemDescription& of, const std::string& name) {
  const std::vector<std::string> own(of.parameters.begin(), of.parameters.end());
  const auto found = std::ranges::find(own, name);
  if (found == own.end())
    throw InputError("has no tunable parameter " + in_quotes(name) + "; " +
                     known("tunable parameters", name, own));
  return static_cast<std::size_t>(found - own.begin());
}

/// The subsystem of one run.
class ServedSubsystem::Session {
 public:
  Session(std::unique_ptr<Subsystem> subsystem, const RemoteOffers& offers)
      : subsystem_(std::move(subsystem)),
        offers_(offers),
        polynomials_(subsystem_->description().inputs.size()),
        inputs_(polynomials_.size()),
        outputs_(subsystem_->description().outputs.size()) {}

  void introduce(const Json& question) {
    const SubsystemDescription& own = subsystem_->description();
    input_places_ = places_of(question.at("inputs"), names_of(own.inputs));
    output_places_ = places_of(question.at("outputs"), names_of(own.outputs));
    set_parameters(question.at("parameters"));
  }

  Json start(const Json& question) {
    const double t = question.at("t"), h = question.at("h");
    const std::vector<char> all_inputs(inputs_.size(), 1), all_outputs(outputs_.size(), 1);
    subsystem_->note_use(all_inputs, all_outputs);
    subsystem_->enter({});
    subsystem_->start({t, t + h, h}, question.value("stop", endless));
    take_inputs(question.at("u"), nullptr);
    require(subsystem_->point_outputs(inputs_, Wanted::values, outputs_), *subsystem_);
    if (subsystem_->initializing()) {
      require(subsystem_->end_initialization(inputs_), *subsystem_);
      require(subsystem_->point_outputs(inputs_, Wanted::values, outputs_), *subsystem_);
    }
    return result(true, false);
  }

  Json step(const Json& question) {
    take_state(question);
    if (question.value("keep", false)) {
      subsystem_->save();
      kept_ = stands_;
    }
    const bool slopes = question.contains("slopes");
    const Json& u = question.at("u");
    for (std::size_t i = 0; i < input_places_.size(); ++i)
      polynomials_[input_places_[i]] = polynomial_of(u.at(i));
    const MacroStep step{question.at("t"), question.at("to"), question.at("h")};
    const auto continuity =
        question.value("joined", false) ? InputContinuity::smooth : InputContinuity::broken;
    require(subsystem_->advance(step, polynomials_, continuity,
                                slopes ? Wanted::values_and_derivatives : Wanted::values, outputs_),
            *subsystem_);
    return result(true, slopes);
  }

  Json outputs(const Json& question) {
    take_state(question);
    take_inputs(question.at("u"), &question.at("du"));
    require(subsystem_->point_outputs(inputs_, Wanted::values_and_derivatives, outputs_),
            *subsystem_);
    return {{"dy", list(&Sample::derivative)}};
  }

  Json set(const Json& question) {
    take_state(question);
    set_parameters(question.at("parameters"));
    return result(false, false);
  }

  const SubsystemDescription& description() const { return subsystem_->description(); }

  /// Of one that has started.
  RemoteOffers tried_offers() {
    const Capabilities& can = description().capabilities;
    Archive archive;
    return {can.rollback && subsystem_->io(archive), can.polynomial_inputs, can.output_derivatives};
  }

 private:
  static constexpr double endless = std::numeric_limits<double>::infinity();

  void set_parameters(const Json& values) {
    for (const auto& [name, value] : values.items())
      require(
          subsystem_->set_parameter(tunable_parameter(description(), name), value.get<double>()),
          *subsystem_);
  }

  void take_inputs(const Json& u, const Json* du) {
    for (std::size_t i = 0; i < input_places_.size(); ++i)
      inputs_[input_places_[i]] = {u.at(i).get<double>(),
                                   du != nullptr ? du->at(i).get<double>() : 0.0};
  }

  /// Back to where it was saved is not the same as there by what it remembers: integrators repeat
  /// their micro-steps.
  void take_state(const Json& question) {
    const auto found = question.find("state");
    if (found == question.end()) return;
    const std::vector<std::uint8_t>& bytes = found->get_binary();
    stands_ = bytes;
    if (kept_ == bytes) return subsystem_->restore();
    kept_.reset();
    const auto* const begin = reinterpret_cast<const std::byte*>(bytes.data());
    Archive archive(std::vector<std::byte>(begin, begin + bytes.size()));
    if (!subsystem_->io(archive)) throw SimulationError(subsystem_->failure());
  }

  Json list(double Sample::*part) const {
    Json numbers = Json::array();
    for (const std::size_t o : output_places_) numbers.push_back(outputs_[o].*part);
    return numbers;
  }

  Json result(bool values, bool slopes) {
    Json answer = Json::object();
    if (values) answer["y"] = list(&Sample::value);
    if (slopes) answer["dy"] = list(&Sample::derivative);
    if (offers_.state) answer["state"] = Json::binary(stands_ = state_of(*subsystem_));
    return answer;
  }

  std::unique_ptr<Subsystem> subsystem_;
  const RemoteOffers& offers_;
  std::vector<std::size_t> input_places_, output_places_;  ///< of the run's in ours
  std::vector<Polynomial> polynomials_;
  std::vector<Sample> inputs_, outputs_;
  std::vector<std::uint8_t> stands_;               ///< what it remembers, as it was told last
  std::optional<std::vector<std::uint8_t>> kept_;  ///< where it was saved
};

ServedSubsystem::~ServedSubsystem() = default;

ServedSubsystem::ServedSubsystem(Make make, Whole whole, const MacroStep& first, double stop)
    : make_(std::move(make)), whole_(std::move(whole)) {
  Session trial(make_(), offers_);
  const SubsystemDescription& own = trial.description();
  Json u = Json::array();
  for (const InputVariable& input : own.inputs) u.push_back(input.start.value_or(0.0));
  trial.introduce({{"inputs", names_of(own.inputs)},
                   {"outputs", names_of(own.outputs)},
                   {"parameters", Json::object()}});
  trial.start({{"t", first.begin}, {"h", first.size()}, {"stop", stop}, {"u", u}});
  description_ = own;
  offers_ = trial.tried_offers();
}

std::vector<std::uint8_t> ServedSubsystem::answer_to(std::span<const std::uint8_t> message) {
  Json question, said;
  try {
    surviving([&] {
      question = read_question(message);
      said = answer(question);
    });
  } catch (const RecoverableFailure& failure) {
    said = {{"refused", failure.what()}};
  } catch (...) {
    said = {{"error", in_words(std::current_exception())}};
  }
  const auto number = question.find("n");
  said["n"] = number == question.end() ? Json(0) : *number;
  return Json::to_msgpack(said);
}

Json ServedSubsystem::answer(const Json& question) {
  const std::string ask = question.at("ask");
  const std::int64_t number = question.at("session");
  if (ask == "hello") return introduce(question, number);
  if (ask == "end") {
    forget(number);
    return Json::object();
  }
  if (ask == "whole") return introduce_whole(number);
  if (ask == "call") return call(question, number);
  const auto found = sessions_.find(number);
  if (found == sessions_.end()) return {{"unknown", true}};
  touch(number);
  Session& session = *found->second;
  if (ask == "start") return session.start(question);
  if (ask == "step") return session.step(question);
  if (ask == "outputs") return session.outputs(question);
  if (ask == "set") return session.set(question);
  throw SimulationError("unknown question " + in_quotes(ask));
}

void ServedSubsystem::make_room() {
  const std::size_t most = description_.one_per_process.empty() ? most_sessions : 1;
  while (order_.size() >= most) forget(order_.front());
}

Json ServedSubsystem::introduce_whole(std::int64_t number) {
  make_room();
  called_[number] = whole_.make();
  touch(number);
  return {{"protocol", remote_protocol}, {"calls", whole_.layout}};
}

Json ServedSubsystem::call(const Json& question, std::int64_t number) {
  const auto found = called_.find(number);
  if (found == called_.end()) return {{"unknown", true}};
  touch(number);
  const std::vector<std::uint8_t>& bytes = question.at("call").get_binary();
  const auto result = found->second->answer_to(std::as_bytes(std::span(bytes)));
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(result.data());
  return {{"result", Json::binary(std::vector<std::uint8_t>(begin, begin + result.size()))}};
}

Json ServedSubsystem::introduce(const Json& question, std::int64_t number) {
  if (description_.events)
    throw SimulationError(
        "has events, of which these questions do not tell: have it whole in the model (whole: "
        "true)");
  make_room();
  auto session = std::make_unique<Session>(make_(), offers_);
  session->introduce(question);
  sessions_[number] = std::move(session);
  touch(number);
  Json offers = Json::array();
  const bool has[] = {offers_.state, offers_.polynomials, offers_.slopes};
  for (std::size_t i = 0; i < std::size(has); ++i)
    if (has[i]) offers.push_back(remote_offers[i]);
  return {{"protocol", remote_protocol},
          {"offers", std::move(offers)},
          {"inputs", names_of(description_.inputs)},
          {"outputs", names_of(description_.outputs)}};
}

void ServedSubsystem::touch(std::int64_t number) {
  std::erase(order_, number);
  order_.push_back(number);
}

void ServedSubsystem::forget(std::int64_t number) {
  std::erase(order_, number);
  sessions_.erase(number);
  called_.erase(number);
}

}  // namespace concord
