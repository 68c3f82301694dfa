#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "subsystem/fmu/binary/fmi1.hpp"
#include "subsystem/fmu/binary/fmi2.hpp"
#include "subsystem/message.hpp"

namespace concord {

/// The arguments of a function of an FMU on their way to another process and back, in the order of
/// the standard. What the FMU reads goes there; of a list that it fills only the length does;
/// single values that it fills go there, too. Numbers of entries go with their list.
template <class... Parameters>
class MarshalledCall {
 public:
  explicit MarshalledCall(Parameters... arguments) : arguments_(arguments...) {}

  void put(MessageWriter& writer) const {
    each([&]<std::size_t i>() { put_one<i>(writer); });
  }
  /// What the FMU has filled; `texts` keep what it points to.
  void take(MessageReader& answer, std::deque<std::string>& texts) const {
    each([&]<std::size_t i>() { take_one<i>(answer, texts); });
  }

 private:
  static constexpr std::size_t count = sizeof...(Parameters);
  static constexpr int single = -1;
  template <std::size_t i>
  using Type = std::tuple_element_t<i, std::tuple<Parameters...>>;
  /// Of an entry.
  template <std::size_t i>
  using Entry = std::remove_pointer_t<Type<i>>;

  template <class Work>
  static void each(const Work& work) {
    [&]<std::size_t... i>(std::index_sequence<i...>) { (work.template operator()<i>(), ...); }
    (std::make_index_sequence<count>());
  }

  template <std::size_t i>
  static constexpr bool counts() {
    if constexpr (i == 0)
      return false;
    else
      return std::is_same_v<Type<i>, std::size_t> && std::is_pointer_v<Type<i - 1>>;
  }
  template <std::size_t i>
  static constexpr bool is_counted_itself() {
    if constexpr (i + 1 < count)
      return counts<i + 1>();
    else
      return false;
  }
  /// A state, or where one is to be put.
  template <std::size_t i>
  static constexpr bool is_state() {
    return (std::is_same_v<Type<i>, void*> && !is_counted_itself<i>()) ||
           std::is_same_v<Type<i>, void**>;
  }
  template <std::size_t i>
  static constexpr bool is_filled() {
    return std::is_pointer_v<Type<i>> && !std::is_const_v<Entry<i>> &&
           !std::is_same_v<Type<i>, void*>;
  }
  /// The argument with the number of entries: that behind it, else, in FMI 2, of what the FMU fills
  /// that of the first list, of what it reads that of the list before.
  template <std::size_t i>
  static constexpr int counter() {
    if constexpr (is_counted_itself<i>()) return static_cast<int>(i + 1);
    if constexpr (is_state<i>() || std::is_class_v<std::remove_const_t<Entry<i>>>) return single;
    int found = single;
    [&]<std::size_t... k>(std::index_sequence<k...>) {
      ((counts<k>() && !(is_filled<i>() && found != single) ? void(found = static_cast<int>(k))
                                                            : void()),
       ...);
    }
    (std::make_index_sequence<i>());
    return found;
  }

  template <std::size_t i>
  static constexpr bool is_bytes() {
    return is_counted_itself<i>() && std::is_void_v<std::remove_const_t<Entry<i>>>;
  }
  template <std::size_t i>
  std::size_t length() const {
    return std::get<static_cast<std::size_t>(counter<i>())>(arguments_);
  }
  template <std::size_t i>
  auto argument() const {
    return std::get<i>(arguments_);
  }

  template <std::size_t i>
  void put_one(MessageWriter& writer) const {
    if constexpr (counts<i>()) {
      return;
    } else if constexpr (!std::is_pointer_v<Type<i>>) {
      writer.put(argument<i>());
    } else if constexpr (std::is_same_v<Type<i>, void**>) {
      writer.put(reinterpret_cast<std::uint64_t>(*argument<i>()));
    } else if constexpr (is_state<i>()) {
      writer.put(reinterpret_cast<std::uint64_t>(argument<i>()));
    } else if constexpr (is_bytes<i>()) {
      if constexpr (std::is_const_v<Entry<i>>)
        writer.put(std::span(static_cast<const char*>(argument<i>()), length<i>()));
      else
        writer.put(length<i>());
    } else if constexpr (counter<i>() == single) {
      put_fields(writer, *argument<i>());
    } else if constexpr (is_filled<i>()) {
      writer.put(length<i>());
    } else if constexpr (std::is_same_v<Entry<i>, const char* const>) {
      writer.put(length<i>());
      for (const char* text : std::span(argument<i>(), length<i>()))
        writer.put(std::string(text != nullptr ? text : ""));
    } else {
      writer.put(std::span(argument<i>(), length<i>()));
    }
  }

  template <std::size_t i>
  void take_one(MessageReader& answer, std::deque<std::string>& texts) const {
    if constexpr (std::is_same_v<Type<i>, void**>) {
      *argument<i>() = reinterpret_cast<void*>(answer.taken<std::uint64_t>());
    } else if constexpr (is_bytes<i>() && !std::is_const_v<Entry<i>>) {
      std::span place(static_cast<char*>(argument<i>()), length<i>());
      answer.take(place);
    } else if constexpr (is_filled<i>() && counter<i>() == single) {
      take_fields(answer, *argument<i>());
    } else if constexpr (is_filled<i>() && std::is_same_v<Entry<i>, const char*>) {
      if (answer.taken<std::size_t>() != length<i>()) throw SimulationError("too few texts");
      for (const char*& text : std::span(argument<i>(), length<i>())) {
        answer.take(texts.emplace_back());
        text = texts.back().c_str();
      }
    } else if constexpr (is_filled<i>() && std::is_same_v<Entry<i>, bool>) {
      std::span bytes(reinterpret_cast<unsigned char*>(argument<i>()), length<i>());
      answer.take(bytes);
      for (unsigned char& byte : bytes) byte = byte != 0 ? 1 : 0;
    } else if constexpr (is_filled<i>()) {
      std::span place(argument<i>(), length<i>());
      answer.take(place);
    }
  }

  template <class Value>
  static void put_fields(MessageWriter& writer, const Value& value) {
    writer.put(value);
  }
  static void put_fields(MessageWriter& writer, const fmi1::EventInfo& info) {
    writer.put(info.iteration_converged, info.state_references_changed, info.states_changed,
               info.terminate_simulation, info.upcoming_time_event, info.next_event_time);
  }
  static void put_fields(MessageWriter& writer, const fmi2::EventInfo& info) {
    writer.put(info.new_discrete_states_needed, info.terminate_simulation, info.nominals_changed,
               info.states_changed, info.next_event_time_defined, info.next_event_time);
  }
  template <class Value>
  static void take_fields(MessageReader& answer, Value& value) {
    answer.take(value);
  }
  static void take_fields(MessageReader& answer, bool& value) {
    value = answer.taken<std::uint8_t>() != 0;
  }
  static void take_fields(MessageReader& answer, fmi1::EventInfo& info) {
    answer.take(info.iteration_converged, info.state_references_changed, info.states_changed,
                info.terminate_simulation, info.upcoming_time_event, info.next_event_time);
  }
  static void take_fields(MessageReader& answer, fmi2::EventInfo& info) {
    answer.take(info.new_discrete_states_needed, info.terminate_simulation, info.nominals_changed,
                info.states_changed, info.next_event_time_defined, info.next_event_time);
  }

  std::tuple<Parameters...> arguments_;
};

}  // namespace concord
