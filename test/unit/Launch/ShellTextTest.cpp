//===- ShellTextTest.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Launch/ShellText.h"

#include "gtest/gtest.h"

using namespace autopar;
using namespace autopar::launch;

namespace {

std::vector<std::string> textsOf(const ShellCommand &command) {
  std::vector<std::string> texts;
  for (const ShellWord &word : command.words)
    texts.push_back(word.text);
  return texts;
}

using Texts = std::vector<std::string>;

TEST(ShellText, QuotesEscapesAndContinuations) {
  Result<ShellScript> script =
      readShell("a 'b c' \"d \\\"e\\\" f\" g\\ h \\\n  --x=1 # comment\n", "s");
  ASSERT_TRUE(script);
  ASSERT_EQ(script->commands.size(), 1u);
  EXPECT_EQ(textsOf(script->commands[0]),
            (Texts{"a", "b c", "d \"e\" f", "g h", "--x=1"}));
  EXPECT_EQ(script->commands[0].words[4].line, 2);
}

TEST(ShellText, CommandsEndAtOperators) {
  Result<ShellScript> script =
      readShell("cd /x && a 1 > out.log 2>&1 & b | c; d", "s");
  ASSERT_TRUE(script);
  std::vector<Texts> commands;
  for (const ShellCommand &command : script->commands)
    commands.push_back(textsOf(command));
  EXPECT_EQ(commands, (std::vector<Texts>{
                          {"cd", "/x"}, {"a", "1"}, {"b"}, {"c"}, {"d"}}));
}

TEST(ShellText, VariablesOfTheScriptHaveValues) {
  Result<ShellScript> script = readShell(
      "TP=8\nexport PORT=80\nX=1 serve --tp $TP --m ${M:-small} --q $Q $(id)",
      "s");
  ASSERT_TRUE(script);
  const ShellCommand &command = script->commands[0];
  EXPECT_EQ(textsOf(command), (Texts{"serve", "--tp", "8", "--m", "small",
                                     "--q", "$Q", "$(id)"}));
  EXPECT_EQ(command.words[6].unknown, (Texts{"$Q"}));
  EXPECT_EQ(command.words[7].unknown, (Texts{"$(id)"}));
  EXPECT_EQ(command.environment.at("X").text, "1");
  EXPECT_EQ(command.environment.at("PORT").text, "80");
  EXPECT_FALSE(command.environment.count("TP"));
}

TEST(ShellText, HereDocumentsAreFiles) {
  Result<ShellScript> script =
      readShell("cat > x.yaml <<'END'\na: 1\nEND\nserve --config x.yaml", "s");
  ASSERT_TRUE(script);
  EXPECT_EQ(script->files.at("x.yaml").text, "a: 1\n");
  EXPECT_EQ(textsOf(script->commands.back()),
            (Texts{"serve", "--config", "x.yaml"}));
}

TEST(ShellText, OpenQuotesAreErrors) {
  Result<ShellScript> script = readShell("a\nb 'c\nd", "run.sh");
  ASSERT_FALSE(script);
  EXPECT_EQ(script.error().where, "run.sh:3");
  EXPECT_NE(script.error().message.find("begins in line 2"), std::string::npos);
  EXPECT_FALSE(readShell("a $(b", "s"));
  EXPECT_FALSE(readShell("a ${b", "s"));
  EXPECT_FALSE(readShell("a `b", "s"));
}

TEST(ShellText, EveryPrefixOfAScriptIsReadOrRefused) {
  std::string text =
      "A=1 b '$c' \"$A ${d:-e} $(f (g) `h`)\" <<END >i\nj\nEND\n";
  for (size_t size = 0; size <= text.size(); ++size)
    (void)readShell(text.substr(0, size), "s");
}

} // namespace
