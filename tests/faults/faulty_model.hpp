// What the faulty FMUs of both versions are: x'' = (load - x)/10, and a failure that parameters
// choose: what is done, in which function, and from which time on.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <string>

#include "faults.hpp"

namespace faults {

enum Status { ok, warning, discard, error, fatal };
enum Reference : unsigned { load, x, v, der_x, der_v, time_of_fault, rank_of_fault, fault, call };

struct Model {
  double t = 0.0, x[2] = {1.0, 0.0}, u[4] = {0.0, 0.0, 0.0, 0.0};
  double time_of_fault = 0.5;
  int rank = -1;
  std::string fault = "none", call = "none";
  std::function<void()> log_oddly = [] {};
};

inline bool now(const Model& model, const char* function) {
  const bool here = model.rank < 0 || model.rank == own_rank();
  // Times of communication points are rounded.
  return here && model.call == function && model.t >= model.time_of_fault - 1e-9;
}

inline Status at(void* instance, const char* function) {
  const auto& model = *static_cast<Model*>(instance);
  if (!now(model, function)) return ok;
  commit(model.fault);
  if (model.fault == "odd_logger") model.log_oddly();
  return model.fault == "fatal" ? fatal : model.fault == "error" ? error : ok;
}

inline bool gives_nan(const Model& model, const char* function) {
  return model.fault == "nan" && now(model, function);
}

inline double derivative(const double* state, double u, int i) {
  return i == 0 ? state[1] : 0.1 * (u - state[0]);
}

inline double input(const Model& model, double tau) {
  return model.u[0] + tau * (model.u[1] + tau * (model.u[2] / 2 + tau * model.u[3] / 6));
}

/// Runge and Kutta's method.
inline void integrate(Model& model, double h) {
  double k[4][2], z[2];
  const double c[] = {0.0, 0.5, 0.5, 1.0};
  for (int s = 0; s < 4; ++s) {
    for (int i = 0; i < 2; ++i) z[i] = model.x[i] + (s == 0 ? 0.0 : c[s] * h * k[s - 1][i]);
    for (int i = 0; i < 2; ++i) k[s][i] = derivative(z, input(model, c[s] * h), i);
  }
  for (int i = 0; i < 2; ++i) model.x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  model.t += h;
}

inline double value(const Model& model, unsigned reference) {
  switch (reference) {
    case load:
      return model.u[0];
    case x:
      return model.x[0];
    case v:
      return model.x[1];
    case der_x:
    case der_v:
      return derivative(model.x, model.u[0], static_cast<int>(reference - der_x));
    default:
      return model.time_of_fault;
  }
}

inline void set_value(Model& model, unsigned reference, double value) {
  if (reference == load) model.u[0] = value;
  if (reference == x) model.x[0] = value;
  if (reference == v) model.x[1] = value;
  if (reference == time_of_fault) model.time_of_fault = value;
  model.u[1] = model.u[2] = model.u[3] = 0.0;
}

inline void set_text(Model& model, unsigned reference, const char* text) {
  (reference == fault ? model.fault : model.call) = text;
}

inline Status save(const Model& model, void** state) {
  if (*state == nullptr) {
    *state = new Model(model);
  } else {
    *static_cast<Model*>(*state) = model;
  }
  return ok;
}

/// What changes, as bytes: t, x and u.
constexpr std::size_t serialized_size = sizeof(double) + sizeof(Model::x) + sizeof(Model::u);
inline Status serialize(const void* state, char* bytes) {
  const auto& model = *static_cast<const Model*>(state);
  std::memcpy(bytes, &model.t, sizeof model.t);
  std::memcpy(bytes + sizeof model.t, model.x, sizeof model.x);
  std::memcpy(bytes + sizeof model.t + sizeof model.x, model.u, sizeof model.u);
  return ok;
}
inline Status deserialize(Model model, const char* bytes, void** state) {
  std::memcpy(&model.t, bytes, sizeof model.t);
  std::memcpy(model.x, bytes + sizeof model.t, sizeof model.x);
  std::memcpy(model.u, bytes + sizeof model.t + sizeof model.x, sizeof model.u);
  return save(model, state);
}

/// x is the output; der_x = v, der_v = (load - x)/10.
inline void directional(std::span<const unsigned> unknowns, std::span<const unsigned> knowns,
                        const double* seed, double* result) {
  double direction[3] = {0.0, 0.0, 0.0};  // load, x, v
  for (std::size_t i = 0; i < knowns.size(); ++i) direction[knowns[i]] = seed[i];
  for (std::size_t i = 0; i < unknowns.size(); ++i) {
    const unsigned of = unknowns[i];
    result[i] = of == der_v   ? 0.1 * (direction[load] - direction[x])
                : of == der_x ? direction[v]
                              : direction[of];
  }
}

}  // namespace faults

#define AT(function)                                           \
  if (const faults::Status status = faults::at(m, function)) { \
    return status;                                             \
  }
#define MODEL faults::Model& model = *static_cast<faults::Model*>(m)
