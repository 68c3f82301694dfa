#include "simulation/pace_groups.hpp"

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <set>

#include "concord/errors.hpp"
#include "network/strong_components.hpp"
#include "support/dense_decompositions.hpp"
#include "support/factorizations.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Dense = Eigen::MatrixXd;
using Sparse = Eigen::SparseMatrix<double>;
using Triplets = std::vector<Eigen::Triplet<double>>;
using Subsystems = std::vector<std::size_t>;

constexpr std::size_t most_states = 400;  // that depend on one another, of dense matrices
constexpr double least_gap = 3.0;         // between rates
constexpr double takes_part = 0.25;       // of a state
constexpr double least_saved = 0.05;      // of right-hand sides

int at(std::size_t i) { return static_cast<int>(i); }

void add_block(const Dense& block, std::size_t row, std::size_t column, Triplets& to) {
  for (Eigen::Index j = 0; j < block.cols(); ++j)
    for (Eigen::Index i = 0; i < block.rows(); ++i)
      if (block(i, j) != 0.0)
        to.emplace_back(at(row) + static_cast<int>(i), at(column) + static_cast<int>(j),
                        block(i, j));
}

Sparse matrix(std::size_t rows, std::size_t columns, const Triplets& entries) {
  Sparse result(at(rows), at(columns));
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

/// Of all subsystems, which are coupled by outputs y = (I - D P)^-1 C x. Throws SimulationError
/// where loops have no solution.
Sparse coupled(const Network& network, const std::vector<LinearPart>& parts) {
  Triplets a, b, c, d, p;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (!parts[k].known) continue;
    const std::size_t x = network.states_of(k).first, u = network.inputs_of(k).first,
                      y = network.outputs_of(k).first;
    add_block(parts[k].a, x, x, a);
    add_block(parts[k].b, x, u, b);
    add_block(parts[k].c, y, x, c);
    add_block(parts[k].d, y, u, d);
    const IndexRange inputs = network.inputs_of(k);
    for (std::size_t i = inputs.first; i < inputs.last; ++i)
      if (const auto& link = network.coupled_links()[i])
        p.emplace_back(at(i), at(link->output), link->factor);
  }
  const std::size_t nx = network.n_states(), nu = network.n_inputs(), ny = network.n_outputs();
  const Sparse fed = matrix(nu, ny, p);
  Sparse outputs = matrix(ny, nx, c);
  if (!d.empty()) {
    Sparse loops(at(ny), at(ny));
    loops.setIdentity();
    loops -= Sparse(matrix(ny, nu, d) * fed);
    loops.makeCompressed();
    const SparseFactors factors(loops);
    if (!factors.succeeded()) throw SimulationError("an algebraic loop has gain 1");
    outputs = factors.solve(outputs);
  }
  return matrix(nx, nx, a) + Sparse(matrix(nx, nu, b) * fed * outputs);
}

/// A part of the coupled system that has its own eigenvalues, and its subsystems.
struct Block {
  Subsystems subsystems;
  Dense a;
  std::vector<std::size_t> first;  ///< states of each, in a; and their number
};

class Search {
 public:
  Search(const Model& model, const Network& network, const PaceProblem& problem)
      : model_(model),
        network_(network),
        problem_(problem),
        a_(coupled(network, problem.parts)),
        fast_(problem.parts.size()) {
    find_neighbours();
  }

  Paces run();

 private:
  using Eigenvalues = std::vector<std::complex<double>>;

  Block block_of(Subsystems subsystems) const;
  static Eigenvalues eigenvalues_of(const Dense& a);
  bool find_blocks();
  void find_neighbours();
  std::vector<double> gaps() const;
  void divide(double theta);
  static void divide(const Block& block, double theta, std::vector<double>& shares);
  std::vector<Subsystems> groups() const;
  std::vector<Subsystems> joined_by_connections(const Subsystems& members) const;
  void add_between(Subsystems& group) const;
  std::set<std::size_t> reached(const Subsystems& from, const std::vector<Subsystems>& next) const;
  double followed(const std::complex<double>& lambda) const;
  double fastest(const Subsystems& subsystems) const;
  double put_out(const Subsystems& group) const;
  double slowest_limit() const { return 1.0 / problem_.time; }
  Paces paces_at(double theta);
  bool leaves_connections(const std::vector<Subsystems>& groups) const;
  std::string why_no_groups() const;
  std::string names(const Subsystems& subsystems) const;
  bool has_states(std::size_t k) const {
    return problem_.parts[k].known && network_.states_of(k).size() > 0;
  }

  const Model& model_;
  const Network& network_;
  const PaceProblem& problem_;
  Sparse a_;
  std::vector<Block> blocks_;
  std::vector<Eigenvalues> eigenvalues_;  ///< of each block
  std::vector<Subsystems> fed_, feeds_;   ///< by subsystem, through continuous connections
  std::vector<char> fast_;
  std::string too_large_;
};

Block Search::block_of(Subsystems subsystems) const {
  Block block;
  std::vector<int> position(network_.n_states(), -1);
  int n = 0;
  for (const std::size_t k : subsystems) {
    block.first.push_back(static_cast<std::size_t>(n));
    const IndexRange states = network_.states_of(k);
    for (std::size_t x = states.first; x < states.last; ++x) position[x] = n++;
  }
  block.first.push_back(static_cast<std::size_t>(n));
  block.a = Dense::Zero(n, n);
  for (const std::size_t k : subsystems) {
    const IndexRange states = network_.states_of(k);
    for (std::size_t x = states.first; x < states.last; ++x)
      for (Sparse::InnerIterator entry(a_, at(x)); entry; ++entry)
        if (const int row = position[static_cast<std::size_t>(entry.row())]; row >= 0)
          block.a(row, position[x]) = entry.value();
  }
  block.subsystems = std::move(subsystems);
  return block;
}

Search::Eigenvalues Search::eigenvalues_of(const Dense& a) {
  if (a.rows() == 0) return {};
  const Eigen::VectorXcd values = eigenvalues(a);
  return {values.data(), values.data() + values.size()};
}

/// What depends on one another. False where that is too much.
bool Search::find_blocks() {
  std::vector<Subsystems> successors(problem_.parts.size());
  std::vector<std::size_t> owner(network_.n_states());
  for (std::size_t k = 0; k < successors.size(); ++k)
    for (std::size_t x = network_.states_of(k).first; x < network_.states_of(k).last; ++x)
      owner[x] = k;
  for (int x = 0; x < a_.outerSize(); ++x)
    for (Sparse::InnerIterator entry(a_, x); entry; ++entry) {
      const std::size_t from = owner[static_cast<std::size_t>(x)],
                        to = owner[static_cast<std::size_t>(entry.row())];
      if (from != to) successors[from].push_back(to);
    }
  for (Subsystems& component : strong_components(successors)) {
    std::erase_if(component, [&](std::size_t k) { return !has_states(k); });
    if (component.empty()) continue;
    std::ranges::sort(component);
    std::size_t states = 0;
    for (const std::size_t k : component) states += network_.states_of(k).size();
    if (states > most_states) {
      too_large_ = std::to_string(states) + " states depend on one another, more than the " +
                   std::to_string(most_states) + " among which groups are looked for";
      return false;
    }
    blocks_.push_back(block_of(std::move(component)));
    eigenvalues_.push_back(eigenvalues_of(blocks_.back().a));
  }
  return true;
}

void Search::find_neighbours() {
  fed_.resize(problem_.parts.size());
  feeds_.resize(problem_.parts.size());
  const auto& links = network_.coupled_links();
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (!links[i]) continue;
    const std::size_t from = network_.subsystem_of_output(links[i]->output),
                      to = network_.subsystem_of_input(i);
    if (from == to || !problem_.parts[from].known || !problem_.parts[to].known) continue;
    feeds_[from].push_back(to);
    fed_[to].push_back(from);
  }
}

/// In the middle of each, the widest first.
std::vector<double> Search::gaps() const {
  constexpr std::size_t most = 6;
  std::vector<double> rates;
  for (const Eigenvalues& values : eigenvalues_)
    for (const auto& value : values) rates.push_back(std::max(std::abs(value), slowest_limit()));
  std::ranges::sort(rates);
  std::vector<std::pair<double, double>> found;
  for (std::size_t i = 1; i < rates.size(); ++i)
    if (const double gap = rates[i] / rates[i - 1]; gap >= least_gap)
      found.emplace_back(gap, std::sqrt(rates[i] * rates[i - 1]));
  std::ranges::stable_sort(found, std::greater(), &std::pair<double, double>::first);
  std::vector<double> result;
  for (std::size_t i = 0; i < std::min(found.size(), most); ++i) result.push_back(found[i].second);
  return result;
}

/// How many states of each subsystem of the block are fast.
void Search::divide(const Block& block, double theta, std::vector<double>& shares) {
  constexpr int most = 100;
  constexpr double enough = 1e-8;
  const Eigen::Index n = block.a.rows();
  const Dense one = Dense::Identity(n, n);
  Dense sign = DenseFactors(block.a + theta * one).solve(block.a - theta * one);
  for (int i = 0; i < most; ++i) {
    const Dense next = 0.5 * (sign + DenseFactors(sign).inverse());
    const double change = (next - sign).norm();
    sign = next;
    if (!(change > enough * sign.norm())) break;
  }
  for (std::size_t k = 0; k < block.subsystems.size(); ++k) {
    double trace = 0.0;
    for (std::size_t x = block.first[k]; x < block.first[k + 1]; ++x) {
      const auto i = static_cast<Eigen::Index>(x);
      trace += 0.5 * (1.0 + sign(i, i));
    }
    shares[block.subsystems[k]] = trace;
  }
}

void Search::divide(double theta) {
  std::vector<double> shares(problem_.parts.size(), 0.0);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const auto is_fast = [&](const auto& value) { return std::abs(value) > theta; };
    if (std::ranges::none_of(eigenvalues_[b], is_fast)) continue;
    divide(blocks_[b], theta, shares);
  }
  for (std::size_t k = 0; k < shares.size(); ++k) fast_[k] = shares[k] > takes_part ? 1 : 0;
}

/// From any of these, through subsystems without states that may be within groups.
std::set<std::size_t> Search::reached(const Subsystems& from,
                                      const std::vector<Subsystems>& next) const {
  std::set<std::size_t> result;
  for (Subsystems open = from; !open.empty();) {
    const std::size_t k = open.back();
    open.pop_back();
    for (const std::size_t to : next[k])
      if (!has_states(to) && problem_.why_not[to].empty() && result.insert(to).second)
        open.push_back(to);
  }
  return result;
}

void Search::add_between(Subsystems& group) const {
  const auto behind = reached(group, feeds_), before = reached(group, fed_);
  std::ranges::set_intersection(behind, before, std::back_inserter(group));
  std::ranges::sort(group);
}

std::vector<Subsystems> Search::joined_by_connections(const Subsystems& members) const {
  const std::set<std::size_t> own(members.begin(), members.end());
  std::vector<Subsystems> joined(problem_.parts.size());
  for (const std::size_t k : members) {
    Subsystems with = {k};
    std::ranges::copy(reached({k}, feeds_), std::back_inserter(with));
    for (const std::size_t from : with)
      for (const std::size_t to : feeds_[from])
        if (own.contains(to)) joined[k].push_back(to), joined[to].push_back(k);
  }
  std::vector<Subsystems> result;
  for (Subsystems& component : strong_components(joined))
    if (component.size() > 1) result.push_back(std::move(component));
  return result;
}

/// Of what is fast and may be within one.
std::vector<Subsystems> Search::groups() const {
  Subsystems members;
  for (std::size_t k = 0; k < fast_.size(); ++k)
    if (fast_[k] != 0 && problem_.why_not[k].empty()) members.push_back(k);
  std::vector<Subsystems> result = joined_by_connections(members);
  for (Subsystems& group : result) add_between(group);
  std::ranges::sort(result);
  return result;
}

double Search::followed(const std::complex<double>& lambda) const {
  const double life = std::log(1.0 / problem_.accuracy) / -lambda.real();
  return std::abs(lambda) * (lambda.real() < 0.0 ? std::min(1.0, life / problem_.time) : 1.0);
}

/// That has to be followed, of these by themselves.
double Search::fastest(const Subsystems& subsystems) const {
  Subsystems with_states;
  std::ranges::copy_if(subsystems, std::back_inserter(with_states),
                       [&](std::size_t k) { return has_states(k); });
  double result = slowest_limit();
  for (const auto& value : eigenvalues_of(block_of(with_states).a))
    result = std::max(result, followed(value));
  return result;
}

/// Of what swings in a group that feeds others: what it puts out is followed about a fourth as
/// closely as what goes on within.
double Search::put_out(const Subsystems& group) const {
  constexpr double share = 0.25;
  const std::set<std::size_t> own(group.begin(), group.end());
  const bool feeds_others = std::ranges::any_of(group, [&](std::size_t k) {
    return std::ranges::any_of(feeds_[k], [&](std::size_t to) { return !own.contains(to); });
  });
  double result = 0.0;
  if (!feeds_others) return result;
  Subsystems with_states;
  std::ranges::copy_if(group, std::back_inserter(with_states),
                       [&](std::size_t k) { return has_states(k); });
  for (const auto& value : eigenvalues_of(block_of(with_states).a))
    if (std::abs(value.imag()) > std::abs(value.real()))
      result = std::max(result, share * followed(value));
  return result;
}

/// Without which a run has nothing to control its macro-steps by.
bool Search::leaves_connections(const std::vector<Subsystems>& groups) const {
  std::vector<std::size_t> group_of(problem_.parts.size(), 0);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const std::size_t k : groups[g]) group_of[k] = g + 1;
  const auto& links = network_.coupled_links();
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (!links[i]) continue;
    const std::size_t from = network_.subsystem_of_output(links[i]->output),
                      to = network_.subsystem_of_input(i);
    if (group_of[from] == 0 || group_of[from] != group_of[to]) return true;
  }
  return false;
}

std::string Search::names(const Subsystems& subsystems) const {
  constexpr std::size_t few = 6;
  std::vector<std::string> result;
  for (std::size_t i = 0; i < std::min(few, subsystems.size()); ++i)
    result.push_back(model_.subsystems[subsystems[i]].description.name);
  return joined(result) + (subsystems.size() > few ? ", ..." : "");
}

/// Of what `fast_` says.
std::string Search::why_no_groups() const {
  Subsystems fast, left_out;
  std::size_t with_states = 0;
  for (std::size_t k = 0; k < fast_.size(); ++k) {
    with_states += has_states(k) ? 1 : 0;
    if (fast_[k] == 0) continue;
    fast.push_back(k);
    if (!problem_.why_not[k].empty()) left_out.push_back(k);
  }
  if (!left_out.empty())
    return "of what is fast (" + names(fast) + ") " +
           model_.subsystems[left_out.front()].description.name + " " +
           problem_.why_not[left_out.front()] + ", and cannot be within a group";
  if (fast.size() == with_states) return "all subsystems take part in what is fast";
  if (!groups().empty()) return "nothing connects the rest with what is fast (" + names(fast) + ")";
  return "what is fast is within single subsystems already: " + names(fast);
}

Paces Search::paces_at(double theta) {
  divide(theta);
  Paces paces;
  const std::vector<Subsystems> found = groups();
  if (found.empty() || !leaves_connections(found)) {
    paces.why = why_no_groups();
    return paces;
  }
  Subsystems rest;
  std::vector<char> grouped(fast_.size(), 0);
  for (const Subsystems& group : found)
    for (const std::size_t k : group) grouped[k] = 1;
  double one = slowest_limit(), all_effort = 0.0, rest_effort = 0.0;
  paces.rest = slowest_limit();
  for (const Eigenvalues& values : eigenvalues_)
    for (const auto& value : values) {
      one = std::max(one, followed(value));
      if (std::abs(value) < theta) paces.rest = std::max(paces.rest, followed(value));
    }
  Subsystems left;
  for (std::size_t k = 0; k < fast_.size(); ++k) {
    all_effort += problem_.effort[k];
    if (grouped[k] != 0) continue;
    rest_effort += problem_.effort[k];
    if (fast_[k] == 0) continue;
    left.push_back(k);
    if (!problem_.why_not[k].empty())
      paces.left_out.push_back(model_.subsystems[k].description.name + " " + problem_.why_not[k]);
  }
  paces.rest = std::max(paces.rest, fastest(left));
  for (const Subsystems& group : found) paces.rest = std::max(paces.rest, put_out(group));
  double work = rest_effort * paces.rest;
  for (const Subsystems& group : found) {
    PaceGroup told;
    double effort = 0.0;
    Subsystems with_states;
    for (const std::size_t k : group) {
      told.members.push_back(model_.subsystems[k].description.name);
      effort += problem_.effort[k];
      if (has_states(k)) with_states.push_back(k);
    }
    work += effort * std::max(paces.rest, fastest(group));
    for (const auto& value : eigenvalues_of(block_of(with_states).a)) {
      const double rate = std::abs(value);
      told.fastest = std::max(told.fastest, rate);
      if (rate > theta) told.slowest = told.slowest == 0.0 ? rate : std::min(told.slowest, rate);
    }
    if (told.slowest == 0.0) told.slowest = told.fastest;
    paces.groups.push_back(std::move(told));
  }
  paces.saved = 1.0 - work / (one * all_effort);
  if (paces.saved >= least_saved) return paces;
  return {
      .groups = {},
      .why = "right-hand sides would hardly be fewer with " + names(found.front()) + " by itself",
      .rest = 0.0,
      .saved = paces.saved,
      .left_out = {}};
}

Paces Search::run() {
  Paces best;
  if (!find_blocks()) {
    best.why = too_large_;
    return best;
  }
  std::size_t with_states = 0;
  for (std::size_t k = 0; k < problem_.parts.size(); ++k) with_states += has_states(k) ? 1 : 0;
  if (with_states < 3) {
    best.why = "fewer than three subsystems have states that can be linearised";
    return best;
  }
  const std::vector<double> thetas = gaps();
  if (thetas.empty()) {
    best.why = "all rates are alike: none is " + short_number(least_gap) +
               " times as fast as the next slower one";
    return best;
  }
  for (const double theta : thetas) {
    Paces paces = paces_at(theta);
    if (paces.groups.empty() ? best.why.empty() && best.groups.empty() : paces.saved > best.saved)
      best = std::move(paces);
  }
  return best;
}

}  // namespace

Paces find_pace_groups(const Model& model, const Network& network, const PaceProblem& problem) {
  return Search(model, network, problem).run();
}

}  // namespace concord
