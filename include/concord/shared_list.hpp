#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "concord/api.hpp"

namespace concord CONCORD_API {

/// A list whose copies share their elements until one of them is changed: of a thousand subsystems
/// of one kind each has the same inputs, and they exist once. It is used like a vector; whoever
/// takes elements of one that is not const is taken to change them.
template <class Element>
class SharedList {
 public:
  using value_type = Element;
  using const_iterator = typename std::vector<Element>::const_iterator;

  SharedList() = default;
  SharedList(std::vector<Element> elements)
      : elements_(elements.empty() ? nullptr
                                   : std::make_shared<std::vector<Element>>(std::move(elements))) {}
  SharedList(std::initializer_list<Element> elements)
      : SharedList(std::vector<Element>(elements)) {}

  /// To be read.
  const std::vector<Element>& all() const { return elements_ ? *elements_ : none(); }
  operator const std::vector<Element>&() const { return all(); }

  std::size_t size() const { return all().size(); }
  bool empty() const { return elements_ == nullptr || elements_->empty(); }
  const_iterator begin() const { return all().begin(); }
  const_iterator end() const { return all().end(); }
  const Element* data() const { return all().data(); }
  const Element& operator[](std::size_t i) const { return all()[i]; }
  const Element& front() const { return all().front(); }
  const Element& back() const { return all().back(); }

  /// The elements, to be changed in this list alone.
  std::vector<Element>& own() {
    if (!elements_)
      elements_ = std::make_shared<std::vector<Element>>();
    else if (elements_.use_count() > 1)
      elements_ = std::make_shared<std::vector<Element>>(*elements_);
    return *elements_;
  }
  Element& operator[](std::size_t i) { return own()[i]; }
  Element& front() { return own().front(); }
  Element& back() { return own().back(); }
  Element* data() { return own().data(); }
  auto begin() { return own().begin(); }
  auto end() { return own().end(); }
  void reserve(std::size_t n) { own().reserve(n); }
  void resize(std::size_t n) { own().resize(n); }
  void push_back(Element element) { own().push_back(std::move(element)); }
  template <class... Parts>
  Element& emplace_back(Parts&&... parts) {
    return own().emplace_back(std::forward<Parts>(parts)...);
  }
  void pop_back() { own().pop_back(); }
  void clear() { elements_.reset(); }

  template <class Archive>
  void io(Archive& archive) {
    archive(own());
  }

  /// Whether both have the same elements in one place.
  bool shares_with(const SharedList& other) const { return elements_ == other.elements_; }

 private:
  static const std::vector<Element>& none() {
    static const std::vector<Element> empty;
    return empty;
  }

  std::shared_ptr<std::vector<Element>> elements_;  ///< null: none
};

}  // namespace CONCORD_API
