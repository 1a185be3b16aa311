//===- SessionTest.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Session/Session.h"

#include "autopar/Session/Validate.h"
#include "autopar/Support/File.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::placement;
using namespace autopar::report;
using namespace autopar::session;

namespace {
class SessionTest : public testing::Test {
protected:
  void SetUp() override { setenv("AUTOPAR_DATA", AUTOPAR_SOURCE_DIR, 1); }
};
} // namespace

/// 2*4*64*256 FLOPs of a product with a matrix of 16,384 elements.
static const char *const product = R"(
!x = tensor<?x?x64xbf16, #transformer.dims<[batch, query, _]>>
!y = tensor<?x?x256xbf16, #transformer.dims<[batch, query, _]>>
transformer.workload(phase = prefill, batch = 1, query = 4, context = 4)
func.func @model(%x: !x) -> !y {
  %w = transformer.weight "up_proj.weight" stored [1, 0] : tensor<64x256xbf16>
  %y = transformer.linear %x, %w : !x, tensor<64x256xbf16> -> !y
  return %y : !y
})";

static ModelRequest requestFor(const char *name) {
  ModelRequest request;
  request.argument = name;
  return request;
}

TEST_F(SessionTest, TakesAModelAsText) {
  Session session;
  ASSERT_FALSE(session.addModel("product", product));
  Result<Report> report = session.estimate(requestFor("product"), {});
  ASSERT_TRUE(report) << report.error().str();
  EXPECT_EQ(report->flops.total, Checked(2 * 4 * 64 * 256));
  Result<ModelReport> facts = session.describe(requestFor("product"));
  ASSERT_TRUE(facts) << facts.error().str();
  EXPECT_EQ(facts->parameters, Checked(64 * 256));
}

TEST_F(SessionTest, RefusesTextAsAValue) {
  Session session;
  auto error = session.addModel("broken", "func.func @model(");
  ASSERT_TRUE(error);
  EXPECT_FALSE(error->message.empty());
  error = session.addModel("deep", std::string(100'000, '['));
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("nest"), std::string::npos) << error->message;
}

TEST_F(SessionTest, PlacesExperts) {
  PlacementRequest request;
  request.ranks = 8;
  request.policy = "block";
  request.sources.load = "zipf:1.0";
  Result<std::string> placed =
      Session().place(requestFor("mixtral-8x7b"), request);
  ASSERT_TRUE(placed) << placed.error().str();
  EXPECT_NE(placed->find("8 ranks"), std::string::npos) << *placed;
  Result<std::string> none = Session().place(requestFor("bert-base"), request);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "bert-base has no routed experts");
}

TEST_F(SessionTest, StopsWhenProgressSaysNo) {
  std::string file = testing::TempDir() + "/rows.csv";
  ASSERT_TRUE(writeFile(
      file, "model_path,system,backend,isl,osl,batch_size,tp_size,"
            "silicon_ttft_ms,silicon_tpot_ms\n"
            "meta-llama/Llama-3.1-8B,h100_sxm,vllm,1000,100,4,1,50,8\n"));
  ValidateRequest request;
  request.files = {file};
  size_t calls = 0, rows = 0;
  auto no = [&](std::string_view, size_t, size_t all) {
    rows = all;
    return ++calls > 1;
  };
  Result<Validation> stopped = validate(request, no);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message, "stopped before all rows were predicted");
  EXPECT_EQ(calls, 1u);
  EXPECT_EQ(rows, 1u);
  Result<Validation> all = validate(request);
  ASSERT_TRUE(all) << all.error().str();
  EXPECT_EQ(all->served.size(), 1u);
}
