//===- RequestReaderTest.cpp ----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Server/RequestReader.h"

#include <gtest/gtest.h>

using namespace autopar::server;
using State = RequestReader::State;

namespace {
class RequestReaderTest : public testing::Test {
protected:
  /// The status that `text` is refused with; 0 where it is complete, -1 where
  /// more must come.
  int statusOf(const std::string &text) {
    RequestReader reader(limits);
    State state = reader.add(text);
    return state == State::refused    ? reader.refusal().status
           : state == State::complete ? 0
                                      : -1;
  }
  static std::string get(const std::string &more = "") {
    return "GET / HTTP/1.1\r\nHost: a\r\n" + more + "\r\n";
  }
  ServerLimits limits;
};
} // namespace

TEST_F(RequestReaderTest, ReadsARequestByteByByte) {
  std::string text = "POST /a%20b?c=d HTTP/1.1\r\nHost: x\r\nX-One:  two \r\n"
                     "Content-Length: 4\r\n\r\nbody";
  RequestReader reader(limits);
  for (size_t i = 0; i + 1 < text.size(); ++i)
    ASSERT_NE(reader.add(text.substr(i, 1)), State::complete) << i;
  ASSERT_EQ(reader.add("y"), State::complete);
  HttpRequest request = reader.take();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/a b");
  EXPECT_EQ(request.query, "c=d");
  EXPECT_EQ(request.body, "body");
  ASSERT_TRUE(request.header("x-one"));
  EXPECT_EQ(*request.header("x-one"), "two");
  EXPECT_TRUE(reader.keepsAlive());
}

TEST_F(RequestReaderTest, KeepsWhatComesBehind) {
  RequestReader reader(limits);
  ASSERT_EQ(reader.add(get() + get("Connection: close\r\n")), State::complete);
  (void)reader.take();
  EXPECT_TRUE(reader.keepsAlive());
  ASSERT_EQ(reader.add(""), State::complete);
  EXPECT_FALSE(reader.keepsAlive());
}

TEST_F(RequestReaderTest, RefusesWhatCouldBeReadInTwoWays) {
  EXPECT_EQ(statusOf(get()), 0);
  EXPECT_EQ(statusOf("GET / HTTP/1.1\r\n\r\n"), 400); // no host
  EXPECT_EQ(statusOf(get("Host: b\r\n")), 400);
  EXPECT_EQ(statusOf(get("Content-Length: 1\r\nContent-Length: 2\r\n")), 400);
  EXPECT_EQ(statusOf(get("Content-Length: 1x\r\n")), 400);
  EXPECT_EQ(statusOf(get("Content-Length: -1\r\n")), 400);
  EXPECT_EQ(statusOf(get("Transfer-Encoding: chunked\r\n")), 411);
  EXPECT_EQ(statusOf(get(" folded\r\n")), 400);
  EXPECT_EQ(statusOf(get("No colon\r\n")), 400);
  EXPECT_EQ(statusOf(get("Space : a\r\n")), 400);
  EXPECT_EQ(statusOf("GET /\r\n\r\n"), 400);
  EXPECT_EQ(statusOf("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(statusOf("GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(statusOf("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(statusOf("GET /%0 HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(statusOf("GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(statusOf("GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(statusOf("POST / HTTP/1.1\r\nHost: a\r\n\r\n"), 411);
}

TEST_F(RequestReaderTest, HasLimits) {
  limits.headBytes = 200;
  limits.targetBytes = 20;
  limits.headers = 2;
  limits.bodyBytes = 10;
  EXPECT_EQ(statusOf(get("A: 1\r\n")), 0);
  EXPECT_EQ(statusOf(get("A: 1\r\nB: 2\r\n")), 431);
  EXPECT_EQ(statusOf(std::string(201, 'a')), 431);
  EXPECT_EQ(statusOf("GET /" + std::string(19, 'a') + " HTTP/1.1\r\n"), -1);
  EXPECT_EQ(
      statusOf("GET /" + std::string(20, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n"),
      414);
  EXPECT_EQ(statusOf(get("Content-Length: 10\r\n")), -1);
  EXPECT_EQ(statusOf(get("Content-Length: 11\r\n")), 413);
  EXPECT_EQ(statusOf(get("Content-Length: 99999999999999999999\r\n")), 413);
}

TEST_F(RequestReaderTest, SaysOnceThatABodyMayCome) {
  RequestReader reader(limits);
  reader.add("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n"
             "Expect: 100-continue\r\n\r\n");
  EXPECT_TRUE(reader.takeExpectation());
  EXPECT_FALSE(reader.takeExpectation());
  EXPECT_EQ(reader.missing(), 2u);
}
