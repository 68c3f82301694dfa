#include "expression/vector_text.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "expression/expression_scan.hpp"
#include "expression/user_functions.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

/// One dimension of what stands in brackets: an index, a range, or all.
struct Subscript {
  std::optional<IndexExpression> first, last;

  bool is_index() const { return first && !last; }
};

struct Reduction;

struct Piece {
  enum class Kind { text, index, elements, reduction };

  Kind kind;
  std::string text;      ///< as it stands, or the vector's name
  std::size_t position;  ///< for messages
  std::size_t variable = 0;
  std::vector<Subscript> subscripts = {};  ///< none: the whole vector
  std::unique_ptr<Reduction> reduction = nullptr;

  /// Whether it stands for more than one value.
  bool is_whole() const {
    return kind == Kind::elements &&
           (subscripts.empty() || !std::ranges::all_of(subscripts, &Subscript::is_index));
  }
};

using Pieces = std::vector<Piece>;

struct Range {
  IndexExpression first, last;
};

constexpr std::size_t most_terms = 1'000'000;

/// sum(...), dot(...), min(...), max(...).
struct Reduction {
  std::string function;
  std::vector<Pieces> arguments;
  std::vector<Range> ranges;    ///< of `for`: of the variables behind those outside
  std::size_t outer_variables;  ///< how many there are outside
  bool is_shared;               ///< the same for all elements
  std::string name = {};        ///< of what is shared, once it is written
};

bool is_whole(const Pieces& pieces) { return std::ranges::any_of(pieces, &Piece::is_whole); }

/// Whether any of the first `count` variables is in it.
bool depends(const Pieces& pieces, std::size_t count);

bool depends(const Piece& piece, std::size_t count) {
  if (piece.kind == Piece::Kind::index) return piece.variable < count;
  const auto names = [&](const std::optional<IndexExpression>& index) {
    return index && index->names_among(count);
  };
  if (std::ranges::any_of(piece.subscripts, [&](const Subscript& subscript) {
        return names(subscript.first) || names(subscript.last);
      }))
    return true;
  if (!piece.reduction) return false;
  const Reduction& reduction = *piece.reduction;
  return std::ranges::any_of(reduction.arguments,
                             [&](const Pieces& pieces) { return depends(pieces, count); }) ||
         std::ranges::any_of(reduction.ranges, [&](const Range& range) {
           return range.first.names_among(count) || range.last.names_among(count);
         });
}

bool depends(const Pieces& pieces, std::size_t count) {
  return std::ranges::any_of(pieces, [&](const Piece& piece) { return depends(piece, count); });
}

}  // namespace

struct VectorText::Content {
  PlacedExpression text;
  std::vector<std::string> indices;
  VectorScope& scope;
  Pieces pieces = {};
};

/// Takes a text apart.
class VectorText::Reader {
 public:
  Reader(Content& content, Use use)
      : content_(content), text_(content.text.text), variables_(content.indices) {
    shares_ = use == Use::often && text_.find("no_event") == text_.npos &&
              text_.find("noEvent") == text_.npos;
  }

  Pieces read() { return pieces_in({0, text_.size()}); }

 private:
  [[noreturn]] void fail(std::size_t position, const std::string& problem) const {
    refuse(content_.text, position, problem);
  }
  std::string part(TextPart part) const {
    return std::string(text_.substr(part.begin, part.end - part.begin));
  }

  void add_text(TextPart between, Pieces& pieces) const {
    if (between.begin < between.end)
      pieces.push_back({Piece::Kind::text, part(between), between.begin});
  }

  Pieces pieces_in(TextPart whole) {
    Pieces result;
    std::size_t done = whole.begin;
    for (auto use = next_name(text_, done); use && use->position < whole.end;) {
      const std::size_t begin = use->position;
      std::size_t end = begin + use->length;
      if (auto piece = piece_at(*use, end)) {
        add_text({done, begin}, result);
        result.push_back(*std::move(piece));
        done = end;
      }
      use = next_name(text_, end);
    }
    add_text({done, whole.end}, result);
    return result;
  }

  /// What is more than a name; `end` moves behind it.
  std::optional<Piece> piece_at(const NameUse& use, std::size_t& end) {
    const std::size_t position = use.position;
    if (use.called) return reduction_at(use, end);
    const std::string name(
        text_.substr(position, std::min(use.length, text_.substr(position).find('['))));
    const auto variable = std::ranges::find(variables_, name);
    if (variable != variables_.end())
      return Piece{Piece::Kind::index, name, position,
                   static_cast<std::size_t>(variable - variables_.begin())};
    const bool bracket =
        position + name.size() < text_.size() && text_[position + name.size()] == '[';
    const auto shape = content_.scope.shapes.find(name);
    if (shape == content_.scope.shapes.end()) {
      if (bracket) fail(position, in_quotes(name) + " is no vector" + known_vectors(name));
      return std::nullopt;
    }
    Piece piece{Piece::Kind::elements, name, position};
    if (bracket) {
      piece.subscripts = subscripts_at(position + name.size(), end);
      if (piece.subscripts.size() != shape->second.size())
        fail(position, in_quotes(name) + " is " + in_words(shape->second) + ", but has " +
                           std::to_string(piece.subscripts.size()) + " indices here");
    }
    return piece;
  }

  std::string known_vectors(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& [vector, shape] : content_.scope.shapes) names.push_back(vector);
    std::ranges::sort(names);
    return names.empty() ? "; there are none here" : "; " + known("vectors", name, names);
  }

  std::size_t closing(std::size_t open, char bracket) const {
    const std::size_t close = find_outside_brackets(text_, {open + 1, text_.size()}, bracket);
    if (close == text_.size()) fail(open, "this bracket is not closed");
    return close;
  }

  std::vector<Subscript> subscripts_at(std::size_t open, std::size_t& end) {
    const std::size_t close = closing(open, ']');
    std::vector<Subscript> result;
    for (const TextPart& index : split_outside_brackets(text_, {open + 1, close}, ',')) {
      const std::vector<TextPart> ends = split_outside_brackets(text_, index, ':');
      if (ends.size() > 2) fail(index.begin, "a range is first:last");
      Subscript subscript;
      if (ends.size() == 1 || part(index).find_first_not_of(" :") != std::string::npos) {
        subscript.first = index_in(ends.front());
        if (ends.size() == 2) subscript.last = index_in(ends.back());
      }
      result.push_back(std::move(subscript));
    }
    end = close + 1;
    return result;
  }

  IndexExpression index_in(TextPart where) const {
    return {content_.text, where.begin, part(where), variables_, content_.scope};
  }

  bool is_reduction(const std::string& name) const {
    return (name == "sum" || name == "dot" || name == "min" || name == "max") &&
           find_own(content_.scope.functions.get(), name) == nullptr;
  }

  /// min and max of several values, or of one, are what they are everywhere.
  std::optional<Piece> reduction_at(const NameUse& use, std::size_t& end) {
    if (!is_reduction(use.name)) return std::nullopt;
    const std::size_t open = text_.find('(', use.position + use.length), close = closing(open, ')');
    const std::vector<TextPart> arguments = split_outside_brackets(text_, {open + 1, close}, ',');
    const bool usual = use.name == "min" || use.name == "max";
    const std::size_t wanted = use.name == "dot" ? 2 : 1;
    const std::size_t loop = find_for(arguments.front());
    const bool loops = loop < arguments.front().end;
    if (usual && arguments.size() > 1 && !loops) return std::nullopt;
    auto reduction = std::make_unique<Reduction>();
    reduction->function = use.name;
    reduction->outer_variables = variables_.size();
    if (loops && use.name != "dot") {
      read_ranges({loop + 3, close}, *reduction);
      reduction->arguments.push_back(pieces_in({open + 1, loop}));
      variables_.resize(reduction->outer_variables);
    } else {
      if (arguments.size() != wanted)
        fail(use.position, use.name + " takes " +
                               (wanted == 2 ? "two vectors: dot(a, b)"
                                            : "one vector: sum(T), or sum(T[i] "
                                              "for i in 1:3)"));
      for (const TextPart& argument : arguments)
        reduction->arguments.push_back(pieces_in(argument));
      const bool vectors = std::ranges::all_of(reduction->arguments, is_whole);
      if (!vectors && usual) return std::nullopt;
      if (!vectors)
        fail(use.position, use.name + " needs a vector, which " +
                               in_quotes(part({open + 1, close})) + " is not" + known_vectors(""));
    }
    Piece piece{Piece::Kind::reduction, use.name, use.position};
    piece.reduction = std::move(reduction);
    piece.reduction->is_shared = shares_ && !depends(piece, piece.reduction->outer_variables);
    end = close + 1;
    return piece;
  }

  /// Where `for` stands as a word of its own, outside brackets; the part's end where it doesn't.
  std::size_t find_for(TextPart where) const {
    for (auto use = next_name(text_, where.begin); use && use->position < where.end;
         use = next_name(text_, use->position + use->length))
      if (use->name == "for" && depth_between(where.begin, use->position) == 0)
        return use->position;
    return where.end;
  }

  int depth_between(std::size_t from, std::size_t until) const {
    int depth = 0;
    for (const char c : text_.substr(from, until - from))
      depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    return depth;
  }

  /// "i in 1:n, j in 1:m"
  void read_ranges(TextPart where, Reduction& reduction) {
    for (const TextPart& loop : split_outside_brackets(text_, where, ',')) {
      const auto name = next_name(text_, loop.begin);
      const auto in = name ? next_name(text_, name->position + name->length) : std::nullopt;
      const bool reads = in && in->name == "in" && in->position < loop.end;
      const auto ends =
          reads ? split_outside_brackets(text_, {in->position + in->length, loop.end}, ':')
                : std::vector<TextPart>();
      if (ends.size() != 2)
        fail(loop.begin, "'for' is followed by an index and its range: for i in 1:3");
      Range range{index_in(ends.front()), index_in(ends.back())};
      if (std::ranges::find(variables_, name->name) != variables_.end() ||
          content_.scope.taken.contains(name->name))
        fail(name->position,
             "the index " + in_quotes(name->name) + " is there already; choose another name");
      reduction.ranges.push_back(std::move(range));
      variables_.push_back(name->name);
    }
  }

  Content& content_;
  std::string_view text_;
  std::vector<std::string> variables_;
  bool shares_ = false;
};

/// Writes for one element.
class VectorText::Writer {
 public:
  Writer(const Content& content, std::span<const double> indices)
      : content_(content), variables_(indices.begin(), indices.end()) {}

  VectorShape shape(const Pieces& pieces) const {
    VectorShape result;
    const Piece* first = nullptr;
    for (const Piece& piece : pieces) {
      if (!piece.is_whole()) continue;
      VectorShape shape = shape_of(piece);
      if (first != nullptr && shape != result)
        fail(piece, in_quotes(first->text) + " is here " + in_words(result) + ", but " +
                        in_quotes(piece.text) + " " + in_words(shape) +
                        "; element by element both must have the same");
      result = std::move(shape);
      first = &piece;
    }
    return result;
  }

  void write(const Pieces& pieces, std::span<const long> element, std::string& out) {
    for (const Piece& piece : pieces) {
      if (piece.kind == Piece::Kind::text)
        out += piece.text;
      else if (piece.kind == Piece::Kind::index)
        write_index(variables_[piece.variable], out);
      else if (piece.kind == Piece::Kind::elements)
        write_element(piece, element, out);
      else
        write_reduction(piece, out);
    }
  }

 private:
  [[noreturn]] void fail(const Piece& piece, const std::string& problem) const {
    refuse(content_.text, piece.position, problem);
  }

  static void write_index(double value, std::string& out) {
    const std::string number = std::to_string(static_cast<long>(value));
    out += value < 0.0 ? "(" + number + ")" : number;
  }

  const VectorShape& whole_shape(const Piece& piece) const {
    return content_.scope.shapes.at(piece.text);
  }

  VectorShape shape_of(const Piece& piece) const {
    const VectorShape& whole = whole_shape(piece);
    VectorShape result;
    for (std::size_t d = 0; d < whole.size(); ++d) {
      if (piece.subscripts.empty() || !piece.subscripts[d].first) {
        result.push_back(whole[d]);
      } else if (const Subscript& subscript = piece.subscripts[d]; subscript.last) {
        const long from = subscript.first->at(variables_), to = subscript.last->at(variables_);
        if (to >= from) {
          check_bounds(piece, d, *subscript.first, from);
          check_bounds(piece, d, *subscript.last, to);
        }
        result.push_back(std::max(to - from + 1, 0L));
      }
    }
    return result;
  }

  void check_bounds(const Piece& piece, std::size_t dimension, const IndexExpression& index,
                    long value) const {
    const long count = whole_shape(piece)[dimension];
    if (value >= 1 && value <= count) return;
    const std::string number = std::to_string(value);
    fail(piece, "the index " + in_quotes(index.text()) + " of " + in_quotes(piece.text) +
                    (number == index.text() ? "" : " is " + number) + index.where(variables_) +
                    ", outside its range 1 to " + std::to_string(count));
  }

  void write_element(const Piece& piece, std::span<const long> element, std::string& out) const {
    const VectorShape& whole = whole_shape(piece);
    out += piece.text;
    std::size_t next = 0;
    for (std::size_t d = 0; d < whole.size(); ++d) {
      long index = 0;
      if (piece.subscripts.empty() || !piece.subscripts[d].first) {
        index = element[next++];
      } else if (const Subscript& subscript = piece.subscripts[d]; subscript.last) {
        index = subscript.first->at(variables_) + element[next++] - 1;
      } else {
        index = subscript.first->at(variables_);
        check_bounds(piece, d, *subscript.first, index);
      }
      out += d == 0 ? '[' : ',';
      out += std::to_string(index);
    }
    out += ']';
  }

  void write_reduction(const Piece& piece, std::string& out) {
    Reduction& reduction = *piece.reduction;
    if (!reduction.is_shared) {
      out += terms_of(piece);
      return;
    }
    if (reduction.name.empty()) reduction.name = shared(terms_of(piece));
    out += reduction.name;
  }

  /// The name of what all elements share.
  std::string shared(const std::string& text) const {
    VectorScope& scope = content_.scope;
    const auto [found, is_new] = scope.shared.try_emplace(text);
    if (is_new) {
      const long number = static_cast<long>(scope.shared_texts.size()) + 1;
      found->second = element_name(shared_name(), std::span(&number, 1));
      scope.shared_texts.push_back(text);
    }
    return found->second;
  }

  /// Of a vector that nobody else has.
  std::string shared_name() const {
    std::string name = "shared";
    while (content_.scope.taken.contains(name)) name += "_";
    return name;
  }

  std::string terms_of(const Piece& piece) {
    const Reduction& reduction = *piece.reduction;
    const bool adds = reduction.function == "sum" || reduction.function == "dot";
    std::string result;
    std::size_t count = 0;
    const auto add = [&](std::span<const long> element) {
      if (count == most_terms) fail(piece, piece.text + " has more than 1e6 terms");
      if (count++ > 0) result += adds ? " + " : ", ";
      for (std::size_t k = 0; k < reduction.arguments.size(); ++k) {
        result += k > 0 ? "*(" : "(";
        write(reduction.arguments[k], element, result);
        result += ')';
      }
    };
    reduction.ranges.empty() ? over_elements(piece, add) : over_ranges(piece, 0, add);
    if (count == 0 && !adds) fail(piece, piece.text + " of no elements has no value");
    return adds ? "(" + (count > 0 ? result : "0") + ")" : reduction.function + "(" + result + ")";
  }

  template <class Add>
  void over_elements(const Piece& piece, const Add& add) {
    const std::vector<Pieces>& arguments = piece.reduction->arguments;
    const VectorShape common = shape(arguments.front());
    if (const VectorShape other = shape(arguments.back()); other != common)
      fail(piece, "the arguments of dot are " + in_words(common) + " and " + in_words(other) +
                      "; they must have the same");
    for (std::size_t i = 0; i < element_count(common); ++i) {
      std::vector<long> element = indices_at(i, common);
      for (long& index : element) ++index;
      add(element);
    }
  }

  template <class Add>
  void over_ranges(const Piece& piece, std::size_t level, const Add& add) {
    const Reduction& reduction = *piece.reduction;
    if (level == reduction.ranges.size()) {
      if (is_whole(reduction.arguments.front()))
        fail(piece, "inside 'for' vectors are named by their elements");
      return add(std::span<const long>());
    }
    const Range& range = reduction.ranges[level];
    const long last = range.last.at(variables_);
    for (long i = range.first.at(variables_); i <= last; ++i) {
      variables_.resize(reduction.outer_variables + level);
      variables_.push_back(static_cast<double>(i));
      over_ranges(piece, level + 1, add);
    }
    variables_.resize(reduction.outer_variables + level);
  }

  const Content& content_;
  std::vector<double> variables_;
};

VectorText::VectorText(PlacedExpression text, std::vector<std::string> indices, Use use,
                       VectorScope& scope)
    : content_(std::make_unique<Content>(Content{std::move(text), std::move(indices), scope})) {
  content_->pieces = Reader(*content_, use).read();
}

VectorText::~VectorText() = default;

bool VectorText::is_plain() const {
  return std::ranges::all_of(content_->pieces,
                             [](const Piece& piece) { return piece.kind == Piece::Kind::text; });
}

VectorShape VectorText::shape(std::span<const double> indices) const {
  return Writer(*content_, indices).shape(content_->pieces);
}

std::string VectorText::written(std::span<const double> indices,
                                std::span<const long> element) const {
  std::string result;
  Writer(*content_, indices).write(content_->pieces, element, result);
  return result;
}

}  // namespace concord
