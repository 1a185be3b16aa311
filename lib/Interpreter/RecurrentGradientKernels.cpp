//===- RecurrentGradientKernels.cpp - Recurrences, backwards --------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each kernel walks over the tokens of a head twice: forward, keeping the state
// behind each token, and backward.
//
//===----------------------------------------------------------------------===//

#include "AttentionScores.h"
#include "Recurrences.h"
#include "SharedHeads.h"

#include "autopar/Dialect/Training/Training.h"

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::schedule;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

using Row = std::vector<double>;

//===----------------------------------------------------------------------===//
// Backward of short convolutions
//===----------------------------------------------------------------------===//

static LocalResults run(ShortConvBackwardOp op, Device &device) {
  const LocalTensor &dy = device(op.getDy()), &x = device(op.getX()),
                    &w = device(op.getWeight());
  int64_t batch = x.shape[0], tokens = x.shape[1], channels = x.extentFrom(2);
  int64_t kernel = w.shape.back(), before = kernel - 1;
  if (failed(hasAllTokens(op, device, op.getX())))
    return failure();
  if (w.size() != channels * kernel)
    return op.emitError("a device has other channels than weights");
  LocalTensor dx(x.shape), dw(w.shape);
  LocalTensor db(op.getBias() ? device(op.getBias()).shape
                              : std::vector<int64_t>{channels});
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t t = 0; t < tokens; ++t) {
        auto at = [&](int64_t j) {
          return (b * tokens + t + j - before) * channels + c;
        };
        int64_t first = std::max<int64_t>(0, before - t);
        double z = op.getBias() ? device(op.getBias()).data[c] : 0;
        for (int64_t j = first; j < kernel; ++j)
          z += w.data[c * kernel + j] * x.data[at(j)];
        double dz = dy.data[at(before)];
        if (op.getFunction())
          dz *= derivative(*op.getFunction(), z);
        db.data[c] += dz;
        for (int64_t j = first; j < kernel; ++j) {
          dx.data[at(j)] += w.data[c * kernel + j] * dz;
          dw.data[c * kernel + j] += x.data[at(j)] * dz;
        }
      }
  LocalTensors results{std::move(dx), std::move(dw)};
  if (op.getDBias())
    results.push_back(std::move(db));
  return results;
}

//===----------------------------------------------------------------------===//
// Backward of state-space recurrences
//===----------------------------------------------------------------------===//

namespace {

/// Computes the gradients of one sequence and one element of a head, for
/// `StateSpaceBackwardOp`.
struct StateSpaceWalk {
  StateSpaceWalk(StateSpaceBackwardOp op, Device &device)
      : dy(device(op.getDy())), x(device(op.getX())), dt(device(op.getDt())),
        in(device(op.getInput())), out(device(op.getOutput())),
        a(device(op.getA())), tokens(x.shape[1]), heads(x.shape[2]),
        width(x.shape[3]), groups(in.shape[2]), n(in.shape[3]), dx(x.shape),
        dDt(dt.shape), dIn(in.shape), dOut(out.shape), dA(a.shape), dD({heads}),
        d(heads), bias(heads) {
    if (op.getD())
      d = device(op.getD()).data;
    if (op.getDtBias())
      bias = device(op.getDtBias()).data;
  }

  double rateOf(int64_t h, int64_t i) const {
    return -std::exp(a.data[placeOf(h, i)]);
  }
  int64_t placeOf(int64_t h, int64_t i) const {
    return a.shape.size() == 1 ? h : h * n + i;
  }

  void run(int64_t b, int64_t h, int64_t p) {
    std::vector<Row> states = {Row(n)};
    auto headAt = [&](int64_t t) { return (b * tokens + t) * heads + h; };
    auto groupAt = [&](int64_t t) {
      return ((b * tokens + t) * groups + h / (heads / groups)) * n;
    };
    auto stepAt = [&](int64_t t) {
      return softplus(dt.data[headAt(t)] + bias[h]);
    };
    for (int64_t t = 0; t < tokens; ++t) {
      Row state = states.back();
      double step = stepAt(t), input = x.data[headAt(t) * width + p];
      for (int64_t i = 0; i < n; ++i)
        state[i] = std::exp(rateOf(h, i) * step) * state[i] +
                   step * in.data[groupAt(t) + i] * input;
      states.push_back(std::move(state));
    }
    Row grad(n);
    for (int64_t t = tokens; t-- > 0;) {
      int64_t head = headAt(t), group = groupAt(t), at = head * width + p;
      double step = stepAt(t), ofStep = 0;
      for (int64_t i = 0; i < n; ++i) {
        double keep = std::exp(rateOf(h, i) * step);
        grad[i] += out.data[group + i] * dy.data[at];
        double slope = grad[i] * states[t][i] * keep * rateOf(h, i);
        dOut.data[group + i] += states[t + 1][i] * dy.data[at];
        dIn.data[group + i] += step * x.data[at] * grad[i];
        dx.data[at] += step * in.data[group + i] * grad[i];
        ofStep += in.data[group + i] * x.data[at] * grad[i] + slope;
        dA.data[placeOf(h, i)] += step * slope;
        grad[i] *= keep;
      }
      dx.data[at] += d[h] * dy.data[at];
      dD.data[h] += x.data[at] * dy.data[at];
      dDt.data[head] += sigmoid(dt.data[head] + bias[h]) * ofStep;
    }
  }

  const LocalTensor &dy, &x, &dt, &in, &out, &a;
  int64_t tokens, heads, width, groups, n;
  LocalTensor dx, dDt, dIn, dOut, dA, dD;
  Row d, bias;
};

} // namespace

static LocalResults compute(StateSpaceBackwardOp op, Device &device) {
  StateSpaceWalk walk(op, device);
  if (failed(hasAllTokens(op, device, op.getX())))
    return failure();
  if (walk.groups == 0 || walk.heads % walk.groups != 0 ||
      walk.a.shape[0] != walk.heads)
    return op.emitError("a device has heads without their groups");
  for (int64_t b = 0; b < walk.x.shape[0]; ++b)
    for (int64_t h = 0; h < walk.heads; ++h)
      for (int64_t p = 0; p < walk.width; ++p)
        walk.run(b, h, p);
  LocalTensors results{std::move(walk.dx), std::move(walk.dDt),
                       std::move(walk.dIn), std::move(walk.dOut),
                       std::move(walk.dA)};
  if (op.getDD())
    results.push_back(std::move(walk.dD));
  return results;
}

static LocalResults run(StateSpaceBackwardOp op, Device &device) {
  return addUpHeads(op, op.getInput(), device, compute);
}

//===----------------------------------------------------------------------===//
// Backward of the gated delta rule
//===----------------------------------------------------------------------===//

namespace {

/// Computes the gradients of one sequence and one head, for
/// `GatedDeltaRuleBackwardOp`.
struct DeltaRuleWalk {
  DeltaRuleWalk(GatedDeltaRuleBackwardOp op, Device &device)
      : dy(device(op.getDy())), query(device(op.getQuery())),
        key(device(op.getKey())), value(device(op.getValue())),
        beta(device(op.getBeta())), tokens(value.shape[1]),
        heads(value.shape[2]), dv(value.shape[3]), keyHeads(key.shape[2]),
        dk(key.shape[3]), decay(device(op.getDecay()), device(op.getALog()),
                                device(op.getDtBias()), dk),
        dQuery(query.shape), dKey(key.shape), dValue(value.shape),
        dBeta(beta.shape), dDecay(decay.decay.shape), dRate(decay.rate.shape) {}

  int64_t headAt(int64_t b, int64_t t, int64_t h) const {
    return (b * tokens + t) * heads + h;
  }
  int64_t rowAt(int64_t b, int64_t t, int64_t h) const {
    return ((b * tokens + t) * keyHeads + h / (heads / keyHeads)) * dk;
  }

  /// Returns the part of the state `last` that remains after the decay of a
  /// token.
  Row keptOf(const Row &last, int64_t head, int64_t h) const {
    Row kept = last, keep = decay.keptOf(head, h);
    for (int64_t i = 0; i < dk * dv; ++i)
      kept[i] *= keep[i / dv];
    return kept;
  }

  /// Returns the difference of a token's value from its prediction by the state
  /// that remains.
  Row missingAt(const Row &kept, const Row &k, int64_t head) const {
    Row missing(dv);
    for (int64_t j = 0; j < dv; ++j) {
      double known = 0;
      for (int64_t i = 0; i < dk; ++i)
        known += k[i] * kept[i * dv + j];
      missing[j] =
          sigmoid(beta.data[head]) * (value.data[head * dv + j] - known);
    }
    return missing;
  }

  void run(int64_t b, int64_t h) {
    std::vector<Row> states = {Row(dk * dv)};
    for (int64_t t = 0; t < tokens; ++t) {
      int64_t head = headAt(b, t, h);
      Row state = keptOf(states.back(), head, h),
          k = unit(&key.data[rowAt(b, t, h)], dk);
      Row missing = missingAt(state, k, head);
      for (int64_t i = 0; i < dk * dv; ++i)
        state[i] += k[i / dv] * missing[i % dv];
      states.push_back(std::move(state));
    }
    Row grad(dk * dv);
    for (int64_t t = tokens; t-- > 0;)
      stepBack(b, t, h, states[t], states[t + 1], grad);
  }

  void stepBack(int64_t b, int64_t t, int64_t h, const Row &last,
                const Row &state, Row &grad) {
    int64_t head = headAt(b, t, h), row = rowAt(b, t, h);
    Row q = unit(&query.data[row], dk), k = unit(&key.data[row], dk);
    double learn = sigmoid(beta.data[head]);
    Row kept = keptOf(last, head, h);
    Row missing = missingAt(kept, k, head), dq(dk), dKeys(dk);
    for (int64_t j = 0; j < dv; ++j) {
      double own = dy.data[head * dv + j] / std::sqrt(double(dk)),
             ofMissing = 0;
      for (int64_t i = 0; i < dk; ++i) {
        double &element = grad[i * dv + j];
        element += q[i] * own;
        ofMissing += k[i] * element;
        dq[i] += state[i * dv + j] * own;
        dKeys[i] += element * missing[j];
      }
      double ofKnown = -learn * ofMissing;
      dValue.data[head * dv + j] += -ofKnown;
      dBeta.data[head] += (1 - learn) * ofMissing * missing[j];
      for (int64_t i = 0; i < dk; ++i) {
        dKeys[i] += kept[i * dv + j] * ofKnown;
        grad[i * dv + j] += k[i] * ofKnown;
      }
    }
    addOfDecay(head, h, kept, grad);
    grad = keptOf(grad, head, h);
    addOfUnit(&query.data[row], q, dq, &dQuery.data[row]);
    addOfUnit(&key.data[row], k, dKeys, &dKey.data[row]);
  }

  void addOfDecay(int64_t head, int64_t h, const Row &kept, const Row &grad) {
    for (int64_t i = 0; i < dk; ++i) {
      double own =
          dot(&grad[i * dv], &kept[i * dv], dv) * -std::exp(decay.rate.data[h]);
      double input = decay.inputAt(head, h, i);
      dDecay.data[decay.at(head, i)] += sigmoid(input) * own;
      dRate.data[h] += softplus(input) * own;
    }
  }

  /// Adds the gradient of a row, given the gradient of the row scaled to unit
  /// length.
  void addOfUnit(const double *row, const Row &scaled, const Row &gradient,
                 double *sum) const {
    double scale = 1 / lengthOf(row, dk);
    double along = dot(scaled.data(), gradient.data(), dk);
    for (int64_t i = 0; i < dk; ++i)
      sum[i] += scale * (gradient[i] - scaled[i] * along);
  }

  const LocalTensor &dy, &query, &key, &value, &beta;
  int64_t tokens, heads, dv, keyHeads, dk;
  DeltaDecay decay;
  LocalTensor dQuery, dKey, dValue, dBeta, dDecay, dRate;
};

} // namespace

static LocalResults compute(GatedDeltaRuleBackwardOp op, Device &device) {
  DeltaRuleWalk walk(op, device);
  if (failed(hasAllTokens(op, device, op.getValue())))
    return failure();
  if (walk.keyHeads == 0 || walk.heads % walk.keyHeads != 0 ||
      walk.decay.rate.size() != walk.heads)
    return op.emitError("a device has value heads without their key heads");
  for (int64_t b = 0; b < walk.value.shape[0]; ++b)
    for (int64_t h = 0; h < walk.heads; ++h)
      walk.run(b, h);
  return LocalTensors{std::move(walk.dQuery), std::move(walk.dKey),
                      std::move(walk.dValue), std::move(walk.dBeta),
                      std::move(walk.dDecay), std::move(walk.dRate)};
}

static LocalResults run(GatedDeltaRuleBackwardOp op, Device &device) {
  return addUpHeads(op, op.getKey(), device, compute);
}

//===----------------------------------------------------------------------===//
// Backward of linear attention
//===----------------------------------------------------------------------===//

static LocalResults run(LinearAttentionBackwardOp op, Device &device) {
  const LocalTensor &dy = device(op.getDy()), &query = device(op.getQuery());
  const LocalTensor &key = device(op.getKey()), &value = device(op.getValue());
  int64_t tokens = query.shape[1], heads = query.shape[2],
          width = query.shape[3];
  FailureOr<double> share = shareOfDecay(op, op.getLayers(), device);
  if (failed(share) || failed(hasAllTokens(op, device, op.getQuery())))
    return failure();
  std::vector<int64_t> numbers = device.indices(op.getQuery(), 2);
  int64_t all = device.grid().extentOf(TensorView(op.getQuery()), 2);
  LocalTensor dQuery(query.shape), dKey(query.shape), dValue(query.shape);
  for (int64_t b = 0; b < query.shape[0]; ++b)
    for (int64_t h = 0; h < heads; ++h) {
      auto rowAt = [&](int64_t t) {
        return ((b * tokens + t) * heads + h) * width;
      };
      double keep = decayOf(numbers[h], all, *share);
      Row state(width * width), grad(width * width);
      for (int64_t t = 0, row = rowAt(t); t < tokens; row = rowAt(++t))
        for (int64_t i = 0; i < width; ++i)
          for (int64_t j = 0; j < width; ++j) {
            double &element = state[i * width + j];
            element = keep * element + key.data[row + i] * value.data[row + j];
            dQuery.data[row + i] += element * dy.data[row + j];
          }
      for (int64_t t = tokens; t-- > 0;) {
        int64_t row = rowAt(t);
        for (int64_t i = 0; i < width; ++i)
          for (int64_t j = 0; j < width; ++j) {
            double &element = grad[i * width + j];
            element += query.data[row + i] * dy.data[row + j];
            dKey.data[row + i] += element * value.data[row + j];
            dValue.data[row + j] += element * key.data[row + i];
            element *= keep;
          }
      }
    }
  return LocalTensors{std::move(dQuery), std::move(dKey), std::move(dValue)};
}

void autopar::interpreter::attachRecurrentGradientKernels(
    MLIRContext *context) {
  attach<ShortConvBackwardOp, run>(context);
  attach<StateSpaceBackwardOp, run>(context);
  attach<GatedDeltaRuleBackwardOp, run>(context);
  attach<LinearAttentionBackwardOp, run>(context);
}
