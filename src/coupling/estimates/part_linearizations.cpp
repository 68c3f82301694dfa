// The linearisations of subsystems by which errors spread.
#include <utility>

#include "coupling/estimates/error_propagation.hpp"
#include "coupling/problem/row_major.hpp"
#include "subsystem/scratch_linearization.hpp"
#include "support/work_clock.hpp"

namespace concord {
namespace {

Eigen::Index signed_index(std::size_t i) { return static_cast<Eigen::Index>(i); }

/// Those of these inputs, `first` being the subsystem's first one.
Eigen::MatrixXd columns(const Eigen::Map<const RowMajor>& all, std::span<const std::size_t> inputs,
                        std::size_t first) {
  Eigen::MatrixXd result(all.rows(), static_cast<Eigen::Index>(inputs.size()));
  for (std::size_t c = 0; c < inputs.size(); ++c) {
    result.col(static_cast<Eigen::Index>(c)) =
        all.col(static_cast<Eigen::Index>(inputs[c] - first));
  }
  return result;
}

/// Whether a linearisation's entries cost less than whole matrices. Few states' errors are carried
/// by exponentials, which are whole.
bool is_sparse(const LinearPattern& pattern, std::size_t inputs) {
  constexpr std::size_t worth_it = 64 * 64, least_sparsity = 4;
  const std::size_t states = pattern.f_x.rows();
  const std::size_t whole = (states + pattern.g_x.rows()) * (states + inputs);
  return (states == 0 || signed_index(states) >= CarriedErrors::few_states) && whole >= worth_it &&
         least_sparsity * pattern.entries() <= whole;
}

SparseRows sparse_rows(const RowPattern& pattern, const std::vector<double>& values,
                       Eigen::Index columns) {
  return Eigen::Map<const SparseRows>(signed_index(pattern.rows()), columns,
                                      signed_index(values.size()), pattern.begins.data(),
                                      pattern.columns.data(), values.data());
}

/// Those of these inputs, `first` being the subsystem's first one.
SparseRows columns(const SparseRows& all, std::span<const std::size_t> inputs, std::size_t first) {
  std::vector<int> place(static_cast<std::size_t>(all.cols()), -1);
  for (std::size_t c = 0; c < inputs.size(); ++c) place[inputs[c] - first] = static_cast<int>(c);
  std::vector<Eigen::Triplet<double>> entries;
  for (Eigen::Index row = 0; row < all.rows(); ++row)
    for (SparseRows::InnerIterator entry(all, row); entry; ++entry)
      if (const int to = place[static_cast<std::size_t>(entry.col())]; to >= 0)
        entries.emplace_back(static_cast<int>(row), to, entry.value());
  SparseRows result(all.rows(), signed_index(inputs.size()));
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

/// `one` becomes the mean of both.
void to_mean(Linearization& one, const Linearization& other) {
  for (const auto part :
       {&Linearization::f_x, &Linearization::f_u, &Linearization::g_x, &Linearization::g_u}) {
    const std::vector<double>& values = other.*part;
    for (std::size_t i = 0; i < values.size(); ++i)
      (one.*part)[i] = 0.5 * ((one.*part)[i] + values[i]);
  }
}

bool equal(const Linearization& one, const Linearization& other) {
  return one.f_x == other.f_x && one.f_u == other.f_u && one.g_x == other.g_x &&
         one.g_u == other.g_u;
}

}  // namespace

/// What parts have in columns of the rank.
void ErrorPropagation::lay_columns() {
  std::size_t size = 0;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    parts_[k].states = signed_index(subsystems_.states_of(k).size());
    parts_[k].outputs = signed_index(subsystems_.outputs_of(k).size());
    size += parts_[k].room();
  }
  columns_.assign(size, 0.0);
  double* next = columns_.data();
  for (Part& part : parts_) {
    part.columns = next;
    next += part.room();
  }
}

/// What f and g are there nobody asks for later.
std::shared_ptr<const Linearization> ErrorPropagation::kept(const Linearization& here) {
  const auto is_like = [&](const Linearization& other) {
    return equal(other, here) && other.f_t == here.f_t && other.g_t == here.g_t &&
           other.g_late == here.g_late && other.late == here.late &&
           other.parameters == here.parameters;
  };
  if (auto known = linearizations_.find(is_like)) return known;
  auto result = std::make_shared<Linearization>(here);
  result->f.clear();
  result->g.clear();
  linearizations_.add(result);
  return result;
}

/// Of own subsystems, whose linearisations are entries.
std::vector<char> ErrorPropagation::sparse_parts(RankNetwork& subsystems) {
  std::vector<char> result;
  for (const std::size_t k : subsystems.all()) {
    const auto* const knows = dynamic_cast<LinearizesSparsely*>(&subsystems.own(k));
    const auto pattern = knows != nullptr ? knows->linear_pattern() : nullptr;
    result.push_back(pattern && is_sparse(*pattern, subsystems.inputs_of(k).size()) ? 1 : 0);
  }
  return result;
}

/// Whether the last linearisation still holds, as far as that costs less than another one: it has
/// not changed before, and no event has reached the subsystem since.
bool ErrorPropagation::keeps(std::size_t k, const CommunicationPoint& point) {
  const Part& part = parts_[k];
  if (!part.steady || part.restarts != subsystems_.touched().restarts(k)) {
    return false;
  }
  const IndexRange inputs = subsystems_.inputs_of(k);
  bool keeps = false;
  const WorkScope timed(subsystems_.clock(), k, Work::linearize);
  const auto thrown = subsystems_.at_point(k, [&] {
    keeps = subsystems_.own(k).keeps(*part.newest,
                                     std::span(point.inputs).subspan(inputs.first, inputs.size()));
  });
  return keeps && !thrown;
}

/// An exception out of a subsystem is a failure of this rank, for which the others must not wait.
/// Where a subsystem cannot be linearised at a point, it stays as it was at an earlier one.
ErrorPropagation::State ErrorPropagation::linearize(std::size_t k,
                                                    const CommunicationPoint& point) {
  Part& part = parts_[k];
  if (keeps(k, point)) {
    part.continues = true;
    return same;
  }
  Subsystem& subsystem = subsystems_.own(k);
  const IndexRange inputs = subsystems_.inputs_of(k);
  ScratchLinearization scratch;
  Linearization& now = scratch.all();
  const bool other_pattern = take_pattern(part);
  if (other_pattern) part.continues = false;
  Outcome outcome = Outcome::ok;
  const WorkScope timed(subsystems_.clock(), k, Work::linearize);
  const auto thrown = subsystems_.at_point(k, [&] {
    const auto own = std::span(point.inputs).subspan(inputs.first, inputs.size());
    outcome = part.sparse != nullptr ? part.sparse->linearize_entries(own, *part.pattern, now)
                                     : subsystem.linearize(own, now);
  });
  if (thrown || outcome != Outcome::ok) {
    failure_ = thrown ? *thrown
                      : "subsystem '" + subsystem.description().name +
                            "' cannot be linearised: " + subsystem.failure();
    return part.known ? same : failed;
  }
  Linearization mean = now;
  if (part.continues && closely_) {
    mean = *part.newest;
    to_mean(mean, now);
  }
  part.newest = kept(now);
  const bool as_before = part.known && !other_pattern && equal(mean, part.spread->mean);
  part.continues = part.known = true;
  part.steady = as_before;
  part.restarts = subsystems_.touched().restarts(k);
  if (as_before) {
    return same;
  }
  take_linearization(k, mean);
  return renewed;
}

/// Whether parameters have changed it.
bool ErrorPropagation::take_pattern(Part& part) const {
  if (part.sparse == nullptr) return false;
  auto now = part.sparse->linear_pattern();
  const bool other = now != part.pattern && *now != *part.pattern;
  part.pattern = std::move(now);
  return other;
}

/// From f_x, g_x and f_u, g_u by all inputs, whole or as entries.
template <class Matrix>
void ErrorPropagation::take_matrices(std::size_t k, const Matrix& a, const Matrix& c,
                                     const Matrix& by_all, const Matrix& out_by_all) {
  Spread& spread = *parts_[k].spread;
  const std::size_t first = subsystems_.inputs_of(k).first;
  const auto connected = connected_inputs(parts_[k]);
  const auto held = held_inputs(parts_[k]);
  spread.a = LinearMap(a);
  spread.c = LinearMap(c);
  spread.b = columns(by_all, connected, first);
  spread.d = columns(out_by_all, connected, first);
  spread.b_held = columns(by_all, held, first);
  spread.d_held = columns(out_by_all, held, first);
}

std::span<const std::size_t> ErrorPropagation::connected_inputs(const Part& part) const {
  return std::span(subsystems_.connected_inputs())
      .subspan(part.connected.first, part.connected.size());
}

std::span<const std::size_t> ErrorPropagation::held_inputs(const Part& part) const {
  return std::span(subsystems_.held_inputs()).subspan(part.held.first, part.held.size());
}

/// Subsystems that are linearised alike, and of which the same inputs are connected and held, have
/// one Spread. How many outputs there are no matrix tells where there are neither states nor
/// inputs.
void ErrorPropagation::take_linearization(std::size_t k, const Linearization& mean) {
  Part& part = parts_[k];
  const IndexRange inputs = subsystems_.inputs_of(k);
  std::vector<std::size_t> places;
  for (const std::size_t i : connected_inputs(part)) places.push_back(i - inputs.first);
  places.push_back(inputs.size());
  for (const std::size_t i : held_inputs(part)) places.push_back(i - inputs.first);
  const bool alone = part.sparse != nullptr || mean.late > 0.0;
  const auto is_like = [&](const Spread& other) {
    return other.c.rows() == part.outputs && other.places == places && equal(other.mean, mean);
  };
  if (auto known = alone ? nullptr : spreads_.find(is_like)) {
    part.spread = std::move(known);
    return;
  }
  part.spread = std::make_shared<Spread>();
  part.spread->mean = mean;
  part.spread->places = std::move(places);
  const Eigen::Index n = signed_index(subsystems_.states_of(k).size());
  const Eigen::Index p = signed_index(subsystems_.outputs_of(k).size());
  const Eigen::Index m = signed_index(inputs.size());
  if (part.sparse != nullptr) {
    const LinearPattern& where = *part.pattern;
    return take_matrices(k, sparse_rows(where.f_x, mean.f_x, n),
                         sparse_rows(where.g_x, mean.g_x, n), sparse_rows(where.f_u, mean.f_u, m),
                         sparse_rows(where.g_u, mean.g_u, m));
  }
  take_matrices(k, row_major(mean.f_x, n, n), row_major(mean.g_x, p, n), row_major(mean.f_u, n, m),
                row_major(mean.g_u, p, m));
  if (mean.late > 0.0) {
    const auto late = row_major(mean.g_late, p, m);
    if (!part.late) part.late = std::make_unique<LateErrors>();
    part.late->take(mean.late, columns(late, connected_inputs(part), inputs.first),
                    columns(late, held_inputs(part), inputs.first));
  } else {
    spreads_.add(part.spread);
  }
}

/// K = D: what comes about at once. An indirect constraint says nothing of its unknown there.
void ErrorPropagation::assemble_direct() {
  put_gains(&Spread::d, *direct_);
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    if (subsystems_.own(k).description().constraint != ConstraintKind::indirect) continue;
    for (std::size_t i = 0; i < direct_->gains().inputs(k).size(); ++i)
      direct_->gains().own(k, constraint_corrected, i) = 0.0;
  }
  direct_->assemble();
}

void ErrorPropagation::put_gains(LinearMap Spread::*gain, InputSystem& system) {
  match_entries(gain, system);
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const LinearMap& map = parts_[k].spread.get()->*gain;
    if (map.is_sparse()) {
      system.gains().set(k, map.entries());
      continue;
    }
    const Eigen::MatrixXd& own = map.whole();
    if (k > 0 && own.size() > 0 && parts_[k].spread == parts_[k - 1].spread) {
      system.gains().share(k, k - 1);
      continue;
    }
    for (Eigen::Index o = 0; o < own.rows(); ++o) {
      for (Eigen::Index i = 0; i < own.cols(); ++i) {
        system.gains().own(k, static_cast<std::size_t>(o), static_cast<std::size_t>(i)) = own(o, i);
      }
    }
  }
}

}  // namespace concord
