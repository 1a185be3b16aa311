//===- Functions.cpp - Functions of one number ----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::transformer;

double autopar::interpreter::sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
double autopar::interpreter::softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

double autopar::interpreter::apply(FunctionKind function, double x) {
  switch (function) {
  case FunctionKind::silu:
    return x * sigmoid(x);
  case FunctionKind::gelu:
    return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
  case FunctionKind::gelu_tanh:
    return x / 2 *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case FunctionKind::relu:
    return std::max(x, 0.0);
  case FunctionKind::relu2:
    return std::max(x, 0.0) * std::max(x, 0.0);
  case FunctionKind::sigmoid:
    return sigmoid(x);
  case FunctionKind::tanh:
    return std::tanh(x);
  case FunctionKind::quick_gelu:
    return x * sigmoid(1.702 * x);
  case FunctionKind::softplus:
    return softplus(x);
  case FunctionKind::exp:
    return std::exp(x);
  case FunctionKind::relu6:
    return std::clamp(x, 0.0, 6.0);
  case FunctionKind::leaky_relu:
    return x < 0 ? 0.01 * x : x;
  case FunctionKind::hardswish:
    return x * std::clamp(x + 3, 0.0, 6.0) / 6;
  case FunctionKind::mish:
    return x * std::tanh(softplus(x));
  case FunctionKind::identity:
    break;
  }
  return x;
}

/// Returns the derivative; at a corner of the function, that from the left.
double autopar::interpreter::derivative(FunctionKind function, double x) {
  switch (function) {
  case FunctionKind::silu:
    return sigmoid(x) * (1 + x * (1 - sigmoid(x)));
  case FunctionKind::gelu:
    return (1 + std::erf(x / std::sqrt(2.0))) / 2 +
           x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
  case FunctionKind::gelu_tanh: {
    double c = std::sqrt(2 / M_PI),
           t = std::tanh(c * (x + 0.044715 * x * x * x));
    return (1 + t) / 2 + x / 2 * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x);
  }
  case FunctionKind::relu:
    return x > 0 ? 1 : 0;
  case FunctionKind::relu2:
    return 2 * std::max(x, 0.0);
  case FunctionKind::sigmoid:
    return sigmoid(x) * (1 - sigmoid(x));
  case FunctionKind::tanh:
    return 1 - std::tanh(x) * std::tanh(x);
  case FunctionKind::quick_gelu: {
    double s = sigmoid(1.702 * x);
    return s * (1 + 1.702 * x * (1 - s));
  }
  case FunctionKind::softplus:
    return sigmoid(x);
  case FunctionKind::exp:
    return std::exp(x);
  case FunctionKind::relu6:
    return x > 0 && x <= 6 ? 1 : 0;
  case FunctionKind::leaky_relu:
    return x < 0 ? 0.01 : 1;
  case FunctionKind::hardswish:
    return x <= -3 ? 0 : x > 3 ? 1 : (2 * x + 3) / 6;
  case FunctionKind::mish: {
    double t = std::tanh(softplus(x));
    return t + x * (1 - t * t) * sigmoid(x);
  }
  case FunctionKind::identity:
    break;
  }
  return 1;
}
