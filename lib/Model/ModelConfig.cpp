//===- ModelConfig.cpp - Reading config.json ------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/ModelConfig.h"

#include "autopar/Model/Family.h"
#include "autopar/Support/Checked.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <map>

using namespace autopar;

namespace {

/// What bounds a field: far above any model, far below an overflow.
constexpr int64_t maxWidth = int64_t(1) << 28;
constexpr int64_t maxHeads = int64_t(1) << 20;
constexpr int64_t maxExperts = int64_t(1) << 24;

/// Reads the fields of one config, noting the defaults it takes.
class ConfigReader {
public:
  ConfigReader(JsonReader json, const Family &family, std::string name)
      : json(std::move(json)), family(family) {
    config.name = std::move(name);
  }

  Result<ModelConfig> read() {
    readModel();
    readLayers();
    checkSize();
    if (json.failed())
      return json.takeError();
    return std::move(config);
  }

private:
  /// Notes that `key` was absent and the family's default is used.
  template <typename T>
  T useDefault(std::string_view key, T value, const std::string &text) {
    config.defaults.push_back(std::string(key) + " = " + text +
                              " (default of " + std::string(family.source) +
                              ")");
    return value;
  }

  int64_t integerOr(std::string_view key, int64_t min, int64_t max,
                    int64_t absent) {
    if (auto value = json.optionalInteger(key, min, max))
      return *value;
    return useDefault(key, absent, std::to_string(absent));
  }

  double numberOr(std::string_view key, double min, double max, double absent) {
    if (auto value = json.optionalNumber(key, min, max))
      return *value;
    return useDefault(key, absent, formatNumber(absent));
  }

  bool booleanOr(std::string_view key, bool absent) {
    if (json.has(key))
      return json.boolean(key);
    return useDefault(key, absent, absent ? "true" : "false");
  }

  void readModel() {
    config.modelType = family.modelType;
    config.expertNames = family.expertNames;
    config.dtype = readDtype();
    config.hidden = json.integer("hidden_size", 1, maxWidth);
    config.vocabulary = json.integer("vocab_size", 1, maxWidth);
    config.normEps = numberOr("rms_norm_eps", 0, 1, family.normEps);
    config.tiedEmbeddings = booleanOr("tie_word_embeddings", false);
    config.activation = readActivation();
    if (json.has("quantization_config"))
      json.failAt("quantization_config",
                  "the checkpoint is quantised, which is not supported yet",
                  "import the unquantised model");
  }

  /// `dtype` since transformers 5, `torch_dtype` before.
  ElementType readDtype() {
    const char *key = json.has("dtype") ? "dtype" : "torch_dtype";
    std::string text = json.string(key);
    std::optional<ElementType> type = parseElementType(text);
    if (!json.failed() && !type)
      json.failAt(key, "unknown format \"" + shorten(text) + "\"",
                  "known: bfloat16, float16, float32");
    return type.value_or(ElementType::bf16);
  }

  std::string readActivation() {
    static const std::map<std::string, std::string> names = {
        {"silu", "silu"},
        {"swish", "silu"},
        {"gelu", "gelu"},
        {"gelu_new", "gelu_tanh"},
        {"gelu_pytorch_tanh", "gelu_tanh"},
        {"relu", "relu"},
        {"relu2", "relu2"}};
    std::string text =
        json.has("hidden_act")
            ? json.string("hidden_act")
            : useDefault("hidden_act", std::string("silu"), "silu");
    auto it = names.find(text);
    if (it != names.end())
      return it->second;
    if (!json.failed())
      json.failAt("hidden_act", "unknown function \"" + shorten(text) + "\"",
                  "known: silu, gelu, gelu_new, gelu_pytorch_tanh, relu, "
                  "relu2");
    return "silu";
  }

  AttentionConfig readAttention() {
    AttentionConfig attention;
    attention.heads = json.integer("num_attention_heads", 1, maxHeads);
    attention.kvHeads =
        integerOr("num_key_value_heads", 1, maxHeads,
                  family.kvHeads ? family.kvHeads : attention.heads);
    if (attention.heads % attention.kvHeads)
      json.failAt("num_key_value_heads", std::to_string(attention.kvHeads) +
                                             " key-value heads do not divide " +
                                             std::to_string(attention.heads) +
                                             " attention heads");
    attention.headDim = readHeadDim(attention.heads);
    attention.qkNorm = family.qkNorm;
    bool bias = family.attentionBiasKey && booleanOr("attention_bias", false);
    attention.inputBias = family.inputBias || bias;
    attention.outputBias = bias;
    readRope(attention);
    return attention;
  }

  int64_t readHeadDim(int64_t heads) {
    int64_t quotient = std::max<int64_t>(config.hidden / heads, 1);
    bool derived = !json.has("head_dim") && !family.headDim;
    int64_t headDim = integerOr("head_dim", 1, maxHeads,
                                family.headDim ? family.headDim : quotient);
    if (derived && config.hidden % heads)
      json.failAt("hidden_size",
                  std::to_string(config.hidden) + " is not a multiple of " +
                      std::to_string(heads) + " attention heads",
                  "give head_dim");
    if (headDim % 2)
      json.failAt(json.has("head_dim") ? "head_dim" : "hidden_size",
                  "rotary embedding needs an even head_dim, found " +
                      std::to_string(headDim));
    return headDim;
  }

  /// `rope_parameters` since transformers 5, `rope_theta` and `rope_scaling`
  /// before.
  void readRope(AttentionConfig &attention) {
    JsonReader holder =
        json.has("rope_parameters") ? json.object("rope_parameters") : json;
    constexpr double maxTheta = 1e12;
    if (auto theta = holder.optionalNumber("rope_theta", 1, maxTheta))
      attention.ropeTheta = *theta;
    else
      attention.ropeTheta =
          numberOr("rope_theta", 1, maxTheta, family.ropeTheta);
    const char *key =
        json.has("rope_parameters") ? "rope_parameters" : "rope_scaling";
    if (!json.has(key))
      return;
    JsonReader scaling = json.object(key);
    std::optional<std::string> type = scaling.optionalString("rope_type");
    if (!type)
      type = scaling.optionalString("type");
    if (type && *type != "default")
      attention.ropeScaling = *type;
  }

  /// Tokens that layers with a window see; 0 where the model has none.
  int64_t readWindow() {
    if (family.windowIsOptional && !booleanOr("use_sliding_window", false))
      return 0;
    if (auto window =
            json.optionalInteger("sliding_window", 1, limits::maxTokens))
      return *window;
    // A null says that there is none; only an absent key has the default.
    if (!family.window || json.isNullMember("sliding_window"))
      return 0;
    return useDefault("sliding_window", family.window,
                      std::to_string(family.window));
  }

  /// Whether each layer has the window.
  std::vector<bool> readWindowedLayers(int64_t layers, bool hasWindow) {
    std::vector<bool> windowed(layers, hasWindow);
    if (!hasWindow)
      return windowed;
    if (json.has("layer_types"))
      return readLayerTypes(layers);
    if (family.windowIsOptional) {
      int64_t first = json.integer("max_window_layers", 0, limits::maxLayers);
      std::fill_n(windowed.begin(), std::min(first, layers), false);
    }
    return windowed;
  }

  std::vector<bool> readLayerTypes(int64_t layers) {
    std::vector<bool> windowed;
    for (const JsonReader &type : json.array("layer_types").elements()) {
      std::string text = type.asString();
      if (text != "full_attention" && text != "sliding_attention")
        type.fail("unknown layer type \"" + shorten(text) + "\"",
                  "known: full_attention, sliding_attention");
      windowed.push_back(text == "sliding_attention");
    }
    if (static_cast<int64_t>(windowed.size()) != layers)
      json.failAt("layer_types", "has " + std::to_string(windowed.size()) +
                                     " entries for num_hidden_layers = " +
                                     std::to_string(layers));
    windowed.resize(layers);
    return windowed;
  }

  FeedForwardConfig readDense() {
    FeedForwardConfig dense;
    dense.intermediate = json.integer("intermediate_size", 1, maxWidth);
    dense.bias = family.mlpBiasKey && booleanOr("mlp_bias", false);
    return dense;
  }

  FeedForwardConfig readExperts() {
    FeedForwardConfig sparse;
    sparse.experts = json.integer(family.expertsKey, 1, maxExperts);
    sparse.topK = json.integer("num_experts_per_tok", 1, maxExperts);
    sparse.intermediate = json.integer(family.expertWidthKey, 1, maxWidth);
    if (sparse.topK > sparse.experts)
      json.failAt("num_experts_per_tok",
                  std::to_string(sparse.topK) + " exceeds " +
                      std::string(family.expertsKey) + " = " +
                      std::to_string(sparse.experts));
    return sparse;
  }

  /// Whether each layer is a mixture of experts.
  std::vector<bool> readSparseLayers(int64_t layers) {
    std::vector<bool> sparse(layers, !family.expertsKey.empty());
    if (!family.hasDenseLayers)
      return sparse;
    int64_t step = integerOr("decoder_sparse_step", 1, limits::maxLayers, 1);
    for (int64_t i = 0; i < layers; ++i)
      sparse[i] = (i + 1) % step == 0;
    if (json.has("mlp_only_layers"))
      for (const JsonReader &layer : json.array("mlp_only_layers").elements()) {
        int64_t i = layer.asInteger(0, std::max<int64_t>(layers - 1, 0));
        if (i < layers)
          sparse[i] = false;
      }
    return sparse;
  }

  void readLayers() {
    int64_t layers = json.integer("num_hidden_layers", 1, limits::maxLayers);
    AttentionConfig attention = readAttention();
    int64_t window = readWindow();
    std::vector<bool> windowed = readWindowedLayers(layers, window != 0);
    std::vector<bool> sparse = readSparseLayers(layers);
    if (json.failed())
      return;
    std::map<std::pair<bool, bool>, uint32_t> kinds;
    for (int64_t i = 0; i < layers && !json.failed(); ++i) {
      auto [it, isNew] =
          kinds.try_emplace({windowed[i], sparse[i]}, config.kinds.size());
      if (isNew)
        addKind(attention, windowed[i] ? window : 0, sparse[i]);
      config.layers.push_back(it->second);
    }
    nameKinds();
  }

  void addKind(AttentionConfig attention, int64_t window, bool sparse) {
    LayerConfig kind;
    kind.attention = std::move(attention);
    kind.attention.window = window;
    kind.feedForward = sparse ? readExperts() : readDense();
    config.kinds.push_back(std::move(kind));
  }

  /// "decoder", or as much more as tells the kinds apart.
  void nameKinds() {
    bool windowsDiffer = false, experts = false, dense = false;
    for (const LayerConfig &kind : config.kinds) {
      windowsDiffer |=
          kind.attention.window != config.kinds.front().attention.window;
      (kind.feedForward.experts ? experts : dense) = true;
    }
    for (LayerConfig &kind : config.kinds) {
      if (windowsDiffer)
        kind.name += kind.attention.window ? "sliding_" : "full_";
      if (experts)
        kind.name += kind.feedForward.experts ? "moe_" : "dense_";
      kind.name += "decoder";
    }
  }

  /// Refuses models whose parameters 62 bits do not count.
  void checkSize() {
    if (json.failed())
      return;
    Checked total = Checked(config.hidden) * config.vocabulary * 2;
    for (uint32_t index : config.layers) {
      const LayerConfig &kind = config.kinds[index];
      total += Checked(kind.attention.heads) * kind.attention.headDim *
               config.hidden * 4;
      total += Checked(std::max<int64_t>(kind.feedForward.experts, 1)) *
               kind.feedForward.intermediate * config.hidden * 3;
    }
    if (!total.valid() || total > Checked(int64_t(1) << 60))
      json.fail("the model has more than 2^60 parameters");
  }

  JsonReader json;
  const Family &family;
  ModelConfig config;
};

} // namespace

Result<ModelConfig> autopar::readModelConfig(const JsonDocument &document,
                                             std::string name) {
  JsonReader json = document.reader();
  std::string modelType = json.string("model_type");
  if (json.failed())
    return json.takeError();
  const Family *family = findFamily(modelType);
  if (!family) {
    std::vector<std::string> known = supportedModelTypes();
    json.failAt("model_type",
                "unknown model type \"" + shorten(modelType) + "\"",
                "supported: " + join(known, ", "));
    return json.takeError();
  }
  return ConfigReader(std::move(json), *family,
                      name.empty() ? modelType : std::move(name))
      .read();
}
