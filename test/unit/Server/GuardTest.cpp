//===- GuardTest.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Server/Guard.h"

#include <gtest/gtest.h>

using namespace autopar::server;

static const Access local{true, 8080, "127.0.0.1", ""};
static const Access guarded{false, 8080, "0.0.0.0", "0123456789abcdef"};

/// The status that a request with these headers is refused with; 0: none.
static int statusOf(const Access &access, std::vector<Header> headers) {
  HttpRequest request{"GET", "/", "", std::move(headers), ""};
  std::optional<Problem> problem = guard(request, access);
  return problem ? problem->status : 0;
}

TEST(GuardTest, KnowsItsOwnNames) {
  EXPECT_EQ(statusOf(local, {{"host", "127.0.0.1:8080"}}), 0);
  EXPECT_EQ(statusOf(local, {{"host", "localhost:8080"}}), 0);
  EXPECT_EQ(statusOf(local, {{"host", "[::1]:8080"}}), 0);
  EXPECT_EQ(statusOf(local, {{"host", "localhost"}}), 403);
  EXPECT_EQ(statusOf(local, {{"host", "localhost:8081"}}), 403);
  EXPECT_EQ(statusOf(local, {{"host", "evil.example:8080"}}), 403);
  EXPECT_EQ(statusOf(local, {}), 403);
}

TEST(GuardTest, RefusesOtherSites) {
  Header host{"host", "localhost:8080"};
  EXPECT_EQ(statusOf(local, {host, {"origin", "http://localhost:8080"}}), 0);
  EXPECT_EQ(statusOf(local, {host, {"origin", "http://localhost:3000"}}), 403);
  EXPECT_EQ(statusOf(local, {host, {"origin", "null"}}), 403);
  EXPECT_EQ(statusOf(local, {host, {"sec-fetch-site", "same-origin"}}), 0);
  EXPECT_EQ(statusOf(local, {host, {"sec-fetch-site", "none"}}), 0);
  EXPECT_EQ(statusOf(local, {host, {"sec-fetch-site", "same-site"}}), 403);
  EXPECT_EQ(statusOf(local, {host, {"sec-fetch-site", "cross-site"}}), 403);
}

TEST(GuardTest, WantsTheToken) {
  Header host{"host", "machine:8080"};
  EXPECT_EQ(statusOf(guarded, {host}), 401);
  EXPECT_EQ(
      statusOf(guarded, {host, {"authorization", "Bearer 0123456789abcdef"}}),
      0);
  EXPECT_EQ(
      statusOf(guarded, {host, {"authorization", "Bearer 0123456789abcdeF"}}),
      401);
  EXPECT_EQ(statusOf(guarded, {host, {"authorization", "Bearer "}}), 401);
  EXPECT_EQ(statusOf(guarded,
                     {host, {"cookie", "a=b; autopar-token=0123456789abcdef"}}),
            0);
  EXPECT_EQ(
      statusOf(guarded, {host, {"cookie", "autopar-token=0123456789abcde"}}),
      401);
}

TEST(GuardTest, MakesACookieOfTheToken) {
  HttpRequest request{"GET", "/", "token=0123456789abcdef", {}, ""};
  std::optional<HttpResponse> response = signIn(request, guarded);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 303);
  EXPECT_NE(response->headers[1].value.find("HttpOnly; SameSite=Strict"),
            std::string::npos);
  EXPECT_FALSE(signIn(request, local));
  request.query = "token=";
  EXPECT_FALSE(signIn(request, guarded));
}
