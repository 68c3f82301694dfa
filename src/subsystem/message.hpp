#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "concord/errors.hpp"
#include "concord/subsystem.hpp"
#include "subsystem/grazes.hpp"
#include "subsystem/text_ports.hpp"

namespace concord {

/// What goes into a call or its answer, in the order in which it is put: plain values, and texts
/// and lists of them with their size. Its storage is kept from one message to the next.
class MessageWriter {
 public:
  void clear() { bytes_.clear(); }
  std::span<const std::byte> bytes() const { return bytes_; }

  template <class... Items>
  void put(const Items&... items) {
    (put_one(items), ...);
  }

 private:
  void append(const void* data, std::size_t size) {
    const auto* const begin = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put_one(const T& value) { append(&value, sizeof value); }
  template <class T>
  void put_one(const std::span<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_one(values.size());
    if (!values.empty()) append(values.data(), values.size_bytes());
  }
  template <class T>
  void put_one(const std::vector<T>& values) {
    put_one(std::span(values));
  }
  void put_one(const std::string& text) { put_one(std::span(text)); }
  template <class T>
  void put_each(const T& all) {
    put_one(all.size());
    for (const auto& one : all) put_one(one);
  }
  void put_one(const Texts& texts) { put_each(texts); }
  void put_one(const std::vector<Texts>& texts) { put_each(texts); }
  void put_one(const Linearization& of) {
    put(of.f_x, of.f_u, of.g_x, of.g_u, of.f, of.g, of.f_t, of.g_t, of.parameters, of.g_late,
        of.late);
  }
  void put_one(const StatePoint& point) {
    put(point.t, point.h, point.x, point.inputs, point.input_curvatures, point.wanted);
  }
  void put_one(const std::vector<Happening>& all) {
    put_one(all.size());
    for (const Happening& one : all) put(one.part, one.what);
  }
  void put_one(const Graze& one) {
    put(one.what, one.time, one.margin, one.noise, one.by_states, one.by_inputs);
  }
  void put_one(const std::vector<Graze>& all) { put_each(all); }
  void put_one(const Jump& one) {
    put(one.pass, one.state, one.index, one.by.size());
    for (const auto& [variable, derivative] : one.by) put(variable, derivative);
  }
  void put_one(const std::vector<Jump>& all) { put_each(all); }

  std::vector<std::byte> bytes_;
};

/// Takes what was put, in the same order. Throws SimulationError where it does not fit.
class MessageReader {
 public:
  explicit MessageReader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <class... Items>
  void take(Items&&... items) {
    (take_one(items), ...);
  }
  template <class T>
  T taken() {
    T value{};
    take_one(value);
    return value;
  }
  template <class T>
  std::vector<T> taken_list() {
    std::vector<T> list;
    take_one(list);
    return list;
  }
  bool is_at_end() const { return left_.empty(); }

 private:
  const std::byte* next(std::size_t size) {
    if (size > left_.size()) fail();
    const auto* const begin = left_.data();
    left_ = left_.subspan(size);
    return begin;
  }
  [[noreturn]] static void fail() {
    throw SimulationError("a message of another process is damaged");
  }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void take_one(T& value) { std::memcpy(&value, next(sizeof value), sizeof value); }
  template <class T>
  void copy_to(std::span<T> place) {
    const std::byte* const from = next(place.size_bytes());
    if (!place.empty()) std::memcpy(place.data(), from, place.size_bytes());
  }
  /// A list of known size.
  template <class T>
  void take_one(std::span<T>& place) {
    if (taken<std::size_t>() != place.size()) fail();
    copy_to(place);
  }
  template <class List>
  void take_list(List& list) {
    const auto count = taken<std::size_t>();
    if (count > left_.size() / sizeof *list.data()) fail();
    list.resize(count);
    copy_to(std::span(list));
  }
  template <class T>
  void take_one(std::vector<T>& list) {
    take_list(list);
  }
  void take_one(std::string& text) { take_list(text); }
  void take_one(Texts& texts) { take_each(texts); }
  void take_one(std::vector<Texts>& texts) { take_each(texts); }
  template <class T>
  void take_each(std::vector<T>& all) {
    all.clear();
    for (auto count = taken<std::size_t>(); count > 0; --count) take_one(all.emplace_back());
  }
  void take_one(Linearization& of) {
    take(of.f_x, of.f_u, of.g_x, of.g_u, of.f, of.g, of.f_t, of.g_t, of.parameters, of.g_late,
         of.late);
  }
  void take_one(Graze& one) {
    take(one.what, one.time, one.margin, one.noise, one.by_states, one.by_inputs);
  }
  void take_one(std::vector<Graze>& all) { take_each(all); }
  void take_one(Jump& one) {
    take(one.pass, one.state, one.index);
    for (auto count = taken<std::size_t>(); count > 0; --count) {
      auto& [variable, derivative] = one.by.emplace_back();
      take(variable, derivative);
    }
  }
  void take_one(std::vector<Jump>& all) { take_each(all); }
  /// Adds to what is there.
  void take_one(std::vector<Happening>& all) {
    for (auto count = taken<std::size_t>(); count > 0; --count) take_one_happening(all);
  }
  void take_one_happening(std::vector<Happening>& all) {
    Happening one;
    take(one.part, one.what);
    all.push_back(std::move(one));
  }

  std::span<const std::byte> left_;
};

}  // namespace concord
