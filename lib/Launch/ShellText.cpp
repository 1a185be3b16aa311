//===- ShellText.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Launch/ShellText.h"

#include "autopar/Support/Limits.h"

#include <cctype>
#include <optional>

using namespace autopar;
using namespace autopar::launch;

static bool isNameLetter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_';
}

static bool isBlank(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\r';
}

/// Returns the length of the variable's name with which `text` starts.
static size_t nameLength(std::string_view text) {
  size_t length = 0;
  while (length < text.size() && isNameLetter(text[length]))
    ++length;
  bool startsWithDigit =
      length > 0 && std::isdigit(static_cast<unsigned char>(text.front()));
  return startsWithDigit ? 0 : length;
}

namespace {

/// Reads a script from its first character to its last.
class ScriptReader {
public:
  ScriptReader(std::string_view text, const std::string &name,
               const std::map<std::string, ShellWord> &given)
      : text(text), name(name), assigned(given), exported(given) {}

  Result<ShellScript> read();

private:
  /// A here-document whose text begins after the current line.
  struct HereDocument {
    std::string end, path;
    bool dropsTabs = false;
  };

  bool atEnd() const { return at >= text.size(); }
  char peek(size_t ahead = 0) const {
    return at + ahead < text.size() ? text[at + ahead] : '\0';
  }
  char take() {
    if (text[at] == '\n')
      ++line;
    return text[at++];
  }
  void fail(std::string message) {
    if (!failure)
      failure =
          Error{name + ":" + std::to_string(line), std::move(message), ""};
  }

  /// Returns the number of digits before a redirection, as in `2>&1`.
  size_t fileNumberLength() const {
    size_t length = 0;
    while (std::isdigit(static_cast<unsigned char>(peek(length))))
      ++length;
    return peek(length) == '>' || peek(length) == '<' ? length : 0;
  }
  void readToken();
  void skipComment();
  void endCommand();
  void readRedirection();
  void readHereDocuments();
  void readWord(ShellWord &word);
  void readSingleQuoted(ShellWord &word);
  void readDoubleQuoted(ShellWord &word);
  void readDollar(ShellWord &word);
  void readBraces(ShellWord &word);
  void keepSubstitution(ShellWord &word, char open, char close);
  void addVariable(ShellWord &word, const std::string &variable,
                   const std::string &spelling,
                   const std::optional<std::string> &otherwise);
  void addWord(ShellWord word);
  bool assign(const ShellWord &word);

  std::string_view text;
  const std::string &name;
  size_t at = 0;
  int64_t line = 1;
  size_t words = 0;
  /// The number of characters of all words into which variables were put.
  uint64_t expandedBytes = 0;
  ShellCommand command;
  std::map<std::string, ShellWord> assigned, exported;
  std::vector<HereDocument> awaited;
  std::string outputPath;
  ShellScript script;
  std::optional<Error> failure;
};

} // namespace

Result<ShellScript> ScriptReader::read() {
  while (!atEnd() && !failure)
    readToken();
  endCommand();
  if (failure)
    return *failure;
  return std::move(script);
}

void ScriptReader::readToken() {
  char next = peek();
  if (isBlank(next)) {
    take();
  } else if (next == '\\' && peek(1) == '\n') {
    take();
    take();
  } else if (next == '\\' && peek(1) == '\r' && peek(2) == '\n') {
    at += 2;
    take();
  } else if (next == '#') {
    skipComment();
  } else if (next == '\n') {
    take();
    endCommand();
    readHereDocuments();
  } else if (next == ';' || next == '&' || next == '|' || next == '(' ||
             next == ')') {
    take();
    // `&>` and `>&` redirect output; they do not end a command.
    if (next == '&' && peek() == '>')
      return;
    endCommand();
  } else if (size_t number = fileNumberLength(); number > 0) {
    at += number;
    readRedirection();
  } else if (next == '<' || next == '>') {
    readRedirection();
  } else {
    ShellWord word;
    word.line = line;
    readWord(word);
    addWord(std::move(word));
  }
}

void ScriptReader::skipComment() {
  while (!atEnd() && peek() != '\n')
    ++at;
}

/// Reads a redirection: `2>&1`, `> file` or `<< EOF`.
void ScriptReader::readRedirection() {
  bool isInput = peek() == '<';
  size_t count = 0;
  for (; peek() == '<' || peek() == '>'; ++count)
    take();
  bool dropsTabs = isInput && count == 2 && peek() == '-';
  if (dropsTabs || peek() == '&' || peek() == '|')
    take();
  while (isBlank(peek()))
    take();
  ShellWord target;
  target.line = line;
  readWord(target);
  if (isInput && count == 2)
    awaited.push_back({target.text, outputPath, dropsTabs});
  else if (!isInput) {
    outputPath = target.text;
    for (HereDocument &document : awaited)
      if (document.path.empty())
        document.path = outputPath;
  }
}

void ScriptReader::readHereDocuments() {
  for (const HereDocument &document : awaited) {
    ShellWord body;
    body.line = line;
    while (!atEnd()) {
      size_t end = std::min(text.find('\n', at), text.size());
      std::string_view row = text.substr(at, end - at);
      at = std::min(end + 1, text.size());
      ++line;
      if (document.dropsTabs)
        row.remove_prefix(std::min(row.find_first_not_of('\t'), row.size()));
      if (row == document.end)
        break;
      body.text.append(row).push_back('\n');
    }
    if (!document.path.empty())
      script.files[document.path] = std::move(body);
  }
  awaited.clear();
}

void ScriptReader::readWord(ShellWord &word) {
  while (!atEnd() && !failure) {
    char next = peek();
    if (isBlank(next) ||
        std::string_view("\n;&|()<>").find(next) != std::string_view::npos)
      return;
    if (next == '\'') {
      readSingleQuoted(word);
    } else if (next == '"') {
      readDoubleQuoted(word);
    } else if (next == '$') {
      readDollar(word);
    } else if (next == '`') {
      keepSubstitution(word, '`', '`');
    } else if (next == '\\') {
      take();
      if (peek() == '\n')
        take();
      else if (!atEnd())
        word.text += take();
    } else {
      word.text += take();
    }
  }
}

void ScriptReader::readSingleQuoted(ShellWord &word) {
  take();
  while (!atEnd() && peek() != '\'')
    word.text += take();
  if (atEnd())
    return fail("a text in ' quotes has no end; it begins in line " +
                std::to_string(word.line));
  take();
}

void ScriptReader::readDoubleQuoted(ShellWord &word) {
  take();
  while (!atEnd() && !failure && peek() != '"') {
    if (peek() == '$') {
      readDollar(word);
    } else if (peek() == '`') {
      keepSubstitution(word, '`', '`');
    } else if (peek() == '\\' &&
               std::string_view("\"\\$`\n").find(peek(1)) !=
                   std::string_view::npos &&
               peek(1) != '\0') {
      take();
      if (char escaped = take(); escaped != '\n')
        word.text += escaped;
    } else {
      word.text += take();
    }
  }
  if (atEnd())
    return fail("a text in \" quotes has no end; it begins in line " +
                std::to_string(word.line));
  take();
}

/// Reads what begins with a dollar sign: `$NAME`, `${NAME}`, `$(command)`, or a
/// dollar sign alone.
void ScriptReader::readDollar(ShellWord &word) {
  take();
  if (peek() == '(')
    return keepSubstitution(word, '(', ')');
  if (peek() == '{')
    return readBraces(word);
  size_t length = nameLength(text.substr(at));
  std::string variable(text.substr(at, length));
  if (variable.empty()) {
    word.text += '$';
    // Special variables, such as `$1`, `$@` and `$?`, have no known value.
    if (!atEnd() && !isBlank(peek()) && peek() != '\n' && peek() != '"') {
      word.text += take();
      word.unknown.push_back(word.text.substr(word.text.size() - 2));
    }
    return;
  }
  at += length;
  addVariable(word, variable, "$" + variable, std::nullopt);
}

void ScriptReader::readBraces(ShellWord &word) {
  size_t end = text.find('}', at);
  if (end == std::string_view::npos)
    return fail("${ has no end");
  std::string inside(text.substr(at + 1, end - at - 1));
  for (size_t passed = at; passed < end; ++passed)
    line += text[passed] == '\n';
  at = end + 1;
  std::string variable = inside.substr(0, nameLength(inside));
  std::string rest = inside.substr(variable.size());
  std::optional<std::string> otherwise;
  if (rest.rfind(":-", 0) == 0 || rest.rfind(":=", 0) == 0)
    otherwise = rest.substr(2);
  else if (rest.rfind('-', 0) == 0)
    otherwise = rest.substr(1);
  else if (!rest.empty())
    variable.clear();
  // A default that contains variables has no known value.
  if (otherwise && otherwise->find('$') != std::string::npos)
    otherwise.reset();
  addVariable(word, variable, "${" + inside + "}", otherwise);
}

/// Keeps `$(...)` or `` `...` `` as it is written.
void ScriptReader::keepSubstitution(ShellWord &word, char open, char close) {
  std::string kept(open == '(' ? "$" : "");
  kept += take();
  for (int64_t depth = 1; depth > 0;) {
    if (atEnd())
      return fail(std::string("a command in ") + open + close + " has no end");
    char next = take();
    kept += next;
    if (next == close)
      --depth;
    else if (next == open)
      ++depth;
  }
  word.text += kept;
  word.unknown.push_back(std::move(kept));
}

void ScriptReader::addVariable(ShellWord &word, const std::string &variable,
                               const std::string &spelling,
                               const std::optional<std::string> &otherwise) {
  if (auto known = assigned.find(variable); known != assigned.end()) {
    word.text += known->second.text;
    word.unknown.insert(word.unknown.end(), known->second.unknown.begin(),
                        known->second.unknown.end());
  } else if (otherwise) {
    word.text += *otherwise;
  } else {
    word.text += spelling;
    word.unknown.push_back(spelling);
  }
  expandedBytes += word.text.size();
  if (expandedBytes > limits::maxLaunchBytes)
    fail("variables make the text longer than " +
         std::to_string(limits::maxLaunchBytes) + " characters");
  if (word.text.size() > limits::maxShellWordBytes)
    fail("a word has more than " + std::to_string(limits::maxShellWordBytes) +
         " characters");
}

/// Takes a word `NAME=value` as an assignment. Returns false if the word is
/// none.
bool ScriptReader::assign(const ShellWord &word) {
  size_t length = nameLength(word.text);
  if (length == 0 || length >= word.text.size() || word.text[length] != '=')
    return false;
  ShellWord value = word;
  value.text.erase(0, length + 1);
  command.environment[word.text.substr(0, length)] = std::move(value);
  return true;
}

void ScriptReader::addWord(ShellWord word) {
  if (++words > limits::maxShellWords)
    return fail("more than " + std::to_string(limits::maxShellWords) +
                " words");
  bool declares =
      command.words.empty() ||
      (command.words.size() == 1 &&
       (command.words[0].text == "export" || command.words[0].text == "env" ||
        command.words[0].text == "local"));
  if (declares && assign(word))
    return;
  command.words.push_back(std::move(word));
}

void ScriptReader::endCommand() {
  outputPath.clear();
  bool exports = command.words.size() == 1 && command.words[0].text == "export";
  bool onlyAssigns =
      command.words.empty() || (command.words.size() == 1 &&
                                (exports || command.words[0].text == "local"));
  if (onlyAssigns) {
    for (auto &[variable, value] : command.environment) {
      assigned[variable] = value;
      if (exports || exported.count(variable))
        exported[variable] = value;
    }
  } else {
    command.environment.insert(exported.begin(), exported.end());
    script.commands.push_back(std::move(command));
  }
  command = {};
}

Result<ShellScript>
autopar::launch::readShell(std::string_view text, const std::string &name,
                           const std::map<std::string, ShellWord> &given) {
  return ScriptReader(text, name, given).read();
}
