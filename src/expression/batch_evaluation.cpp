#include "expression/batch_evaluation.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "support/scratch.hpp"

namespace concord {

namespace {

/// Registers of some instances beside each other.
struct Block {
  const double *variables, *constants;  ///< of the first instance
  std::size_t first_constant, first_operation;
  std::size_t distance;   ///< from row to row of these
  const double* results;  ///< of operations
  std::size_t instances;

  const double* row(std::uint32_t place) const {
    if (place < first_constant) return variables + place * distance;
    if (place < first_operation) return constants + (place - first_constant) * distance;
    return results + (place - first_operation) * instances;
  }
};

/// One operation on many operands; returns where the next result goes.
template <Operation operation>
double* rows_of(const Block& block, std::span<const Program::Operands> operands, double* results) {
  for (const auto& operand : operands) {
    const double* const a = block.row(operand.a);
    const double* const b = block.row(operand.b);
    const double* const c = block.row(operand.c);
    double* __restrict const result = results;
    for (std::size_t i = 0; i < block.instances; ++i)
      result[i] = apply(operation, a[i], b[i], c[i]);
    results += block.instances;
  }
  return results;
}

template <std::size_t... operations>
constexpr auto all_rows(std::index_sequence<operations...>) {
  return std::array{&rows_of<static_cast<Operation>(operations)>...};
}

constexpr auto by_operation = all_rows(std::make_index_sequence<operation_count>());

/// So many instances that results of operations take about 32 KiB.
std::size_t block_of(std::size_t operations, std::size_t instances) {
  constexpr std::size_t values = 4096, fewest = 32, most = 512;
  return std::min(instances,
                  std::clamp(values / std::max<std::size_t>(operations, 1), fewest, most));
}

}  // namespace

BatchEvaluation::BatchEvaluation(std::shared_ptr<const Program> program, std::size_t instances)
    : program_(std::move(program)),
      instances_(instances),
      block_(block_of(program_->operands().size(), instances)),
      constants_((program_->held_count() - program_->variable_count()) * instances) {}

void BatchEvaluation::set_constants(std::size_t instance, std::span<const double> constants) {
  double* place = constants_.data() + instance;
  for (const double constant : constants) {
    *place = constant;
    place += instances_;
  }
}

void BatchEvaluation::run(std::span<const double> variables, std::span<double> results) const {
  Scratch scratch;
  const std::span<double> operations = scratch.numbers(program_->operands().size() * block_);
  for (std::size_t first = 0; first < instances_; first += block_)
    run_block(first, std::min(block_, instances_ - first), variables, operations, results);
}

void BatchEvaluation::run_block(std::size_t first, std::size_t count,
                                std::span<const double> variables, std::span<double> operations,
                                std::span<double> results) const {
  double* out = operations.data();
  const Block block{variables.data() + first,
                    constants_.data() + first,
                    program_->variable_count(),
                    program_->held_count(),
                    instances_,
                    out,
                    count};
  const Program::Operands* next = program_->operands().data();
  for (const auto& [operation, repeated] : program_->runs()) {
    out = by_operation[static_cast<std::size_t>(operation)](block, {next, repeated}, out);
    next += repeated;
  }
  double* place = results.data() + first;
  for (const std::uint32_t result : program_->results()) {
    std::copy_n(block.row(result), count, place);
    place += instances_;
  }
}

void add_products(std::span<const double> values, std::span<const double> direction,
                  std::span<double> slopes) {
  double* __restrict const slope = slopes.data();
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    const double moved = slope[i] + values[i] * direction[i];
    slope[i] = direction[i] != 0.0 ? moved : slope[i];
  }
}

}  // namespace concord
