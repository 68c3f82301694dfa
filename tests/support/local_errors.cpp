#include "support/local_errors.hpp"

#include <Eigen/LU>
#include <cmath>
#include <stdexcept>
#include <unsupported/Eigen/MatrixFunctions>

#include "coupling/estimation/phi_functions.hpp"

namespace concord::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double first_time = 0.08, between_times = 0.01;
constexpr int times = 5;

MatrixXd matrix(const std::vector<double>& values, std::size_t rows, std::size_t columns) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(values.data(), static_cast<Index>(rows),
                                    static_cast<Index>(columns));
}

VectorXd vector(std::span<const double> values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size()));
}

LinearizedPart linear_part(const SubsystemEntry& entry) {
  const auto subsystem = entry.create({});
  const auto& description = entry.description;
  const std::size_t n = description.states.size(), m = description.inputs.size(),
                    p = description.outputs.size();
  subsystem->start({0.0, 1e-3}, 1.0);
  std::vector<Sample> inputs;
  VectorXd u(static_cast<Index>(m));
  for (std::size_t i = 0; i < m; ++i) {
    inputs.push_back({description.inputs[i].start.value_or(0.0), 0.0});
    u[static_cast<Index>(i)] = inputs[i].value;
  }
  Linearization at_start;
  if (subsystem->linearize(inputs, at_start) != Outcome::ok) {
    throw std::runtime_error(subsystem->failure());
  }
  LinearizedPart part{matrix(at_start.f_x, n, n),
                      matrix(at_start.f_u, n, m),
                      matrix(at_start.g_x, p, n),
                      matrix(at_start.g_u, p, m),
                      {},
                      {},
                      vector(subsystem->states())};
  part.f = vector(at_start.f) - part.a * part.start - part.b * u;
  part.g = vector(at_start.g) - part.c * part.start - part.d * u;
  return part;
}

/// A linear subsystem that is integrated exactly; while it `knows`, it moves along the exact
/// solution of the coupled system whatever it is fed.
class ExactSubsystem final : public Subsystem {
 public:
  ExactSubsystem(SubsystemDescription description, const ExactSolution& exact, std::size_t k,
                 const bool& knows)
      : Subsystem(std::move(description)),
        exact_(exact),
        part_(exact.part(k)),
        states_(exact.network().states_of(k)),
        outputs_(exact.network().outputs_of(k)),
        knows_(knows) {}

  void start(const MacroStep& first, double) override { stand_at(first.begin); }

  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs, InputContinuity,
                  Wanted wanted, std::span<Sample> outputs) override {
    if (knows_) {
      stand_at(step.end);
      const auto values = exact_.at(step.end);
      for (std::size_t o = 0; o < outputs.size(); ++o) {
        const auto row = static_cast<Index>(outputs_.first + o);
        outputs[o] = {values.y[row], values.y_slope[row]};
      }
      return Outcome::ok;
    }
    integrate(step.size(), inputs);
    std::vector<Sample> end(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      end[i] = inputs[i].at(step.size());
    }
    return point_outputs(end, wanted, outputs);
  }

  Outcome point_outputs(std::span<const Sample> inputs, Wanted,
                        std::span<Sample> outputs) override {
    VectorXd u(part_.b.cols()), slope(part_.b.cols());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      u[static_cast<Index>(i)] = inputs[i].value;
      slope[static_cast<Index>(i)] = inputs[i].derivative;
    }
    const VectorXd y = part_.c * x_ + part_.d * u + part_.g;
    const VectorXd y_slope = part_.c * (part_.a * x_ + part_.b * u + part_.f) + part_.d * slope;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      outputs[o] = {y[static_cast<Index>(o)], y_slope[static_cast<Index>(o)]};
    }
    return Outcome::ok;
  }

  std::span<const double> states() const override {
    return {x_.data(), static_cast<std::size_t>(x_.size())};
  }
  Outcome state_derivatives(std::span<const Sample>, std::span<double>) override {
    return Outcome::failed;
  }
  Outcome linearize(std::span<const Sample>, Linearization&) override { return Outcome::failed; }
  void save() override { saved_ = x_; }
  void restore() override { x_ = saved_; }

 private:
  void stand_at(double t) {
    x_ = exact_.at(t).x.segment(static_cast<Index>(states_.first),
                                static_cast<Index>(states_.size()));
  }

  void integrate(double h, std::span<const Polynomial> inputs) {
    if (h != phi_h_) {
      phi_.compute(part_.a, part_.b, h);
      phi_h_ = h;
    }
    VectorXd powers[4];
    for (std::size_t p = 0; p < 4; ++p) {
      powers[p].resize(part_.b.cols());
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        powers[p][static_cast<Index>(i)] = inputs[i].c[p] * std::pow(h, static_cast<double>(p));
      }
    }
    VectorXd change = phi_.constant * (part_.a * x_ + part_.b * powers[0] + part_.f);
    for (std::size_t p = 1; p < 4; ++p) {
      change += phi_.power[p - 1] * powers[p];
    }
    x_ += change;
  }

  const ExactSolution& exact_;
  const LinearizedPart& part_;
  IndexRange states_, outputs_;
  const bool& knows_;
  PhiMatrices phi_;
  double phi_h_ = 0.0;
  VectorXd x_, saved_;
};

/// One double macro-step, accepted.
void move_on(RichardsonCoupling& coupling, RankNetwork& subsystems, const MacroStep& step,
             CommunicationPoint& point, Trial& trial) {
  subsystems.save();
  if (coupling.solve(step, point, trial).status != CouplingStatus::converged) {
    throw std::runtime_error("the macro-step failed");
  }
  point.inputs = trial.inputs;
  point.outputs = trial.outputs;
  point.polynomials = trial.polynomials;
  point.time = step.end;
  point.last_step = 0.5 * step.size();
  point.slopes_known = true;
  coupling.commit(point);
}

}  // namespace

ExactSolution::ExactSolution(const Model& model) : network_(model) {
  const auto n = static_cast<Index>(network_.n_states());
  const auto m = static_cast<Index>(network_.n_inputs());
  const auto p = static_cast<Index>(network_.n_outputs());
  a_.setZero(n, n), b_.setZero(n, m), c_.setZero(p, n), d_.setZero(p, m), p_.setZero(m, p);
  f_.resize(n), g_.resize(p), start_.resize(n), u_fixed_.setZero(m);
  for (std::size_t k = 0; k < network_.n_subsystems(); ++k) {
    parts_.push_back(linear_part(model.subsystems[k]));
    const auto& part = parts_.back();
    const auto x = static_cast<Index>(network_.states_of(k).first),
               u = static_cast<Index>(network_.inputs_of(k).first),
               y = static_cast<Index>(network_.outputs_of(k).first);
    a_.block(x, x, part.a.rows(), part.a.cols()) = part.a;
    b_.block(x, u, part.b.rows(), part.b.cols()) = part.b;
    c_.block(y, x, part.c.rows(), part.c.cols()) = part.c;
    d_.block(y, u, part.d.rows(), part.d.cols()) = part.d;
    f_.segment(x, part.f.size()) = part.f;
    g_.segment(y, part.g.size()) = part.g;
    start_.segment(x, part.start.size()) = part.start;
    for (std::size_t i = 0; i < network_.inputs_of(k).size(); ++i) {
      const auto row = u + static_cast<Index>(i);
      const auto& link = network_.links()[static_cast<std::size_t>(row)];
      if (link) {
        p_(row, static_cast<Index>(link->output)) = link->factor;
      } else {
        u_fixed_[row] = model.subsystems[k].description.inputs[i].start.value_or(0.0);
      }
    }
  }
}

/// u = loop^-1 (P (C x + g) + u_fixed), loop = I - P D; x' = M x + r by the exponential of
/// [tM tr; 0 0].
ExactSolution::Values ExactSolution::at(double t) const {
  const MatrixXd loop = (MatrixXd::Identity(p_.rows(), p_.rows()) - p_ * d_).inverse();
  const MatrixXd closed = a_ + b_ * loop * p_ * c_;
  const VectorXd rest = f_ + b_ * loop * (p_ * g_ + u_fixed_);
  const Index n = closed.rows();
  MatrixXd augmented = MatrixXd::Zero(n + 1, n + 1);
  augmented.topLeftCorner(n, n) = (t - start_time_) * closed;
  augmented.topRightCorner(n, 1) = (t - start_time_) * rest;
  const MatrixXd exponential = augmented.exp();
  Values values;
  values.x = exponential.topLeftCorner(n, n) * start_ + exponential.topRightCorner(n, 1);
  values.x_slope = closed * values.x + rest;
  values.u = loop * (p_ * (c_ * values.x + g_) + u_fixed_);
  values.u_slope = loop * p_ * c_ * values.x_slope;
  values.y = c_ * values.x + d_ * values.u + g_;
  values.y_slope = c_ * values.x_slope + d_ * values.u_slope;
  return values;
}

ExactSolution ExactSolution::begun_at(double t) const {
  ExactSolution result = *this;
  result.start_ = at(t).x;
  result.start_time_ = t;
  return result;
}

LocalErrors local_errors(const Model& model, const ExactSolution& solution, ErrorEstimate estimate,
                         int order, double time, double h, const Groups& groups) {
  const ExactSolution exact = solution.begun_at(time);
  bool knows = true;
  Model known = model;
  for (std::size_t k = 0; k < known.subsystems.size(); ++k) {
    auto& entry = known.subsystems[k];
    entry.type.own().create = [&, k](const SubsystemEntry&, const SubsystemSettings&) {
      return std::make_unique<ExactSubsystem>(known.subsystems[k].description, exact, k, knows);
    };
  }
  const Partition partition = Partition::on_one_rank(exact.network());
  RankNetwork subsystems(PETSC_COMM_SELF, known, exact.network(), partition,
                         SettingsList(known.subsystems.size()));
  Method method = method_presets().front();
  method.hold = Hold::extrapolate;
  method.solve = Solve::none;
  method.hold_order = order;
  method.estimate = estimate;
  method.groups = groups;
  RichardsonCoupling coupling(method, subsystems);
  CommunicationPoint point;
  const int past = order + 1;
  const auto macro_step = [&](int n) {
    return MacroStep{time + 2.0 * h * n, n == 0 ? time + 2.0 * h : time + 2.0 * h * (n + 1)};
  };
  coupling.start(macro_step(-past), time + 1.0, point);
  Trial trial{point.inputs, point.outputs, point.polynomials};
  for (int n = -past; n < 0; ++n) {
    move_on(coupling, subsystems, macro_step(n), point, trial);
  }
  knows = false;
  move_on(coupling, subsystems, macro_step(0), point, trial);
  LocalErrors errors;
  const auto estimates = coupling.error_estimates();
  errors.estimated.assign(estimates.begin(), estimates.end());
  const auto end = exact.at(point.time);
  for (std::size_t o = 0; o < point.outputs.size(); ++o) {
    errors.real.push_back(point.outputs[o].value - end.y[static_cast<Index>(o)]);
  }
  return errors;
}

LocalErrors mean_local_errors(const Model& model, ErrorEstimate estimate, int order, double h,
                              const Groups& groups) {
  const ExactSolution exact(model);
  LocalErrors mean;
  mean.real.assign(exact.network().n_outputs(), 0.0);
  mean.estimated = mean.real;
  for (int n = 0; n < times; ++n) {
    const auto errors =
        local_errors(model, exact, estimate, order, first_time + between_times * n, h, groups);
    for (std::size_t o = 0; o < mean.real.size(); ++o) {
      mean.real[o] = std::hypot(mean.real[o], errors.real[o] / std::sqrt(times));
      mean.estimated[o] = std::hypot(mean.estimated[o], errors.estimated[o] / std::sqrt(times));
    }
  }
  return mean;
}

std::vector<double> output_sizes(const Model& model) {
  const ExactSolution exact(model);
  VectorXd largest = VectorXd::Zero(static_cast<Index>(exact.network().n_outputs()));
  for (int n = 0; n < times; ++n) {
    largest = largest.cwiseMax(exact.at(first_time + between_times * n).y.cwiseAbs());
  }
  return {largest.data(), largest.data() + largest.size()};
}

}  // namespace concord::test
