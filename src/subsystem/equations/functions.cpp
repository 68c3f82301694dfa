#include "subsystem/equations/functions.hpp"

#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace concord {

namespace {

using Function1 = double (*)(double);
using Function2 = double (*)(double, double);
using Extremum = double (*)(const double*, int);

struct Unary {
  const char* name;
  Function1 function;
};

struct Binary {
  const char* name;
  Function2 function;
};

constexpr Unary unary[] = {
    {"sin", [](double a) { return std::sin(a); }},
    {"cos", [](double a) { return std::cos(a); }},
    {"tan", [](double a) { return std::tan(a); }},
    {"asin", [](double a) { return std::asin(a); }},
    {"acos", [](double a) { return std::acos(a); }},
    {"atan", [](double a) { return std::atan(a); }},
    {"sinh", [](double a) { return std::sinh(a); }},
    {"cosh", [](double a) { return std::cosh(a); }},
    {"tanh", [](double a) { return std::tanh(a); }},
    {"asinh", [](double a) { return std::asinh(a); }},
    {"acosh", [](double a) { return std::acosh(a); }},
    {"atanh", [](double a) { return std::atanh(a); }},
    {"exp", [](double a) { return std::exp(a); }},
    {"log", [](double a) { return std::log(a); }},
    {"ln", [](double a) { return std::log(a); }},
    {"log10", [](double a) { return std::log10(a); }},
    {"log2", [](double a) { return std::log2(a); }},
    {"sqrt", [](double a) { return std::sqrt(a); }},
    {"cbrt", [](double a) { return std::cbrt(a); }},
    {"abs", [](double a) { return std::fabs(a); }},
    {"sign", [](double a) { return a > 0.0   ? 1.0
                                   : a < 0.0 ? -1.0
                                             : a; }},
    {"floor", [](double a) { return std::floor(a); }},
    {"ceil", [](double a) { return std::ceil(a); }},
    {"round", [](double a) { return std::round(a); }},
};

constexpr Binary binary[] = {
    {"atan2", [](double a, double b) { return std::atan2(a, b); }},
    {"hypot", [](double a, double b) { return std::hypot(a, b); }},
    {"pow", [](double a, double b) { return std::pow(a, b); }},
    // a - b floor(a/b): has the sign of b, as in Modelica and MATLAB.
    {"mod", [](double a, double b) { return a - b * std::floor(a / b); }},
    {"rem", [](double a, double b) { return std::fmod(a, b); }},
};

double smallest(const double* values, int count) {
  double result = values[0];
  for (int i = 0; i < count; ++i) {
    if (std::isnan(values[i])) {
      return values[i];
    }
    result = std::min(result, values[i]);
  }
  return result;
}

double largest(const double* values, int count) {
  double result = values[0];
  for (int i = 0; i < count; ++i) {
    if (std::isnan(values[i])) {
      return values[i];
    }
    result = std::max(result, values[i]);
  }
  return result;
}

double choose(double condition, double yes, double no) { return condition != 0.0 ? yes : no; }

double negation(double a) { return a == 0.0 ? 1.0 : 0.0; }

std::vector<std::string> collect_names() {
  std::vector<std::string> names = {"min", "max", "if"};
  for (const Unary& entry : unary) {
    names.emplace_back(entry.name);
  }
  for (const Binary& entry : binary) {
    names.emplace_back(entry.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

void define_functions(mu::Parser& parser) {
  parser.ClearFun();
  parser.ClearConst();
  parser.ClearPostfixOprt();
  for (const Unary& entry : unary) {
    parser.DefineFun(entry.name, entry.function);
  }
  for (const Binary& entry : binary) {
    parser.DefineFun(entry.name, entry.function);
  }
  parser.DefineFun("min", static_cast<Extremum>(smallest));
  parser.DefineFun("max", static_cast<Extremum>(largest));
  parser.DefineFun("if", choose);
  parser.DefineInfixOprt("!", negation);
  parser.DefineConst("pi", std::numbers::pi);
}

std::span<const std::string> function_names() {
  static const std::vector<std::string> names = collect_names();
  return names;
}

std::span<const std::string> constant_names() {
  static const std::vector<std::string> names = {"pi"};
  return names;
}

}  // namespace concord
