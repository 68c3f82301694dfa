#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "expression/expression_graph.hpp"

namespace concord {

/// The variables that nodes of a graph depend on, ascending.
std::vector<std::uint32_t> variables_used(const ExpressionGraph& graph,
                                          std::span<const NodeId> nodes);

/// Nodes of a graph as one sequence of operations on registers, each done once. Nothing changes
/// after construction, and constants belong to an evaluation: any number of evaluations may share a
/// program, whatever their constants are.
///
/// Registers: the variables, then constants, then one per operation, in the order of operations.
/// Equal operations stand together as far as their arguments let them, so that what to do is asked
/// once for many.
class Program {
 public:
  /// Registers that an operation reads.
  struct Operands {
    std::uint32_t a, b, c;
    bool operator==(const Operands&) const = default;
  };

  /// The same operation so many times.
  struct Run {
    Operation operation;
    std::uint32_t count;
    bool operator==(const Run&) const = default;
  };

  /// `constants` become those of the graph, in the order of their registers.
  Program(const ExpressionGraph& graph, std::span<const NodeId> results, std::size_t variable_count,
          std::vector<double>& constants);
  bool operator==(const Program&) const = default;
  std::size_t hash() const;

  std::size_t variable_count() const { return variable_count_; }
  std::size_t result_count() const { return results_.size(); }

  /// Registers that operations don't fill: variables, then constants.
  std::size_t held_count() const { return variable_count_ + constant_count_; }
  /// Operations in their order, and per operation what it reads.
  const std::vector<Run>& runs() const { return runs_; }
  const std::vector<Operands>& operands() const { return operands_; }
  /// The registers in which results are.
  const std::vector<std::uint32_t>& results() const { return results_; }

  /// Memory for an evaluation with these constants.
  std::vector<double> registers(std::span<const double> constants) const;

  /// The variables that results depend on, ascending.
  const std::vector<std::uint32_t>& variables_used() const { return variables_used_; }

  /// Fills `results` from the variables at the front of `registers`.
  void run(std::span<double> registers, std::span<double> results) const;

 private:
  void add_operations(const ExpressionGraph& graph, std::span<const NodeId> nodes,
                      std::vector<std::uint32_t>& places);

  std::size_t variable_count_, constant_count_ = 0;
  std::vector<Run> runs_;
  std::vector<Operands> operands_;      ///< per operation
  std::vector<std::uint32_t> results_;  ///< registers
  std::vector<std::uint32_t> variables_used_;
};

/// A program and the memory of one evaluation. Nothing is allocated after construction.
class Evaluation {
 public:
  Evaluation(std::shared_ptr<const Program> program, std::span<const double> constants)
      : program_(std::move(program)), registers_(program_->registers(constants)) {}

  /// Where the point of evaluation is to be written.
  std::span<double> variables() { return std::span(registers_).first(program_->variable_count()); }
  std::size_t result_count() const { return program_->result_count(); }
  const std::vector<std::uint32_t>& variables_used() const { return program_->variables_used(); }
  const std::shared_ptr<const Program>& program() const { return program_; }
  std::span<const double> constants() const {
    return std::span(registers_).first(program_->held_count()).subspan(program_->variable_count());
  }
  void run(std::span<double> results) { program_->run(registers_, results); }

 private:
  std::shared_ptr<const Program> program_;
  std::vector<double> registers_;
};

}  // namespace concord
