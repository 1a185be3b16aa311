//===- Help.cpp -----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Help.h"

#include "Errors.h"
#include "autopar/Support/Terminal.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

using namespace autopar;

std::string autopar::callOf(const CLI::App &app) {
  const CLI::App *parent = app.get_parent();
  return (parent ? callOf(*parent) + " " : "") + app.get_name();
}

/// Returns how help shows the value of an option. CLI11's default names, which
/// are C++ types, are replaced.
static std::string valueOf(const CLI::Option &option) {
  std::string name = option.get_type_name();
  return name == "TEXT" || name == "FILE"   ? "file"
         : name == "INT" || name == "FLOAT" ? "N"
                                            : name;
}

bool autopar::takesValue(const CLI::Option &option) {
  return option.get_items_expected_max() > 0;
}

std::string autopar::spellingOf(const CLI::Option &option) {
  if (option.get_lnames().empty() && option.get_snames().empty())
    return option.get_name(true, false) +
           (option.get_items_expected_max() > 1 ? "..." : "");
  std::string names;
  for (const std::string &name : option.get_snames())
    names += "-" + name;
  for (const std::string &name : option.get_lnames())
    names += (names.empty() ? "--" : ", --") + name;
  if (!takesValue(option))
    return names;
  return names + (option.get_lnames().empty() ? " " : "=") + valueOf(option);
}

//===----------------------------------------------------------------------===//
// Parts of a page of help
//===----------------------------------------------------------------------===//

namespace {

/// A page of help in lines of at most `width` characters.
class Page {
public:
  explicit Page(size_t width) : width(width) {}

  void addParagraph(std::string_view text) { page += wrap("", text, width); }

  void addHeading(const std::string &text) { page += "\n" + text + ":\n"; }

  /// Adds `term` with its explanation, beside the term or below it.
  void addTerm(const std::string &term, const std::string &text) {
    size_t indent = std::min<size_t>(28, width / 3);
    std::string head = "  " + term;
    if (lengthOf(head) + 2 > indent) {
      page += head + "\n";
      head.clear();
    }
    page += wrap(head + std::string(indent - lengthOf(head), ' '), text, width);
  }

  /// Adds paragraphs whose lines are joined. Indented lines are not joined,
  /// because they are commands to copy.
  void addNotes(std::string_view notes) {
    std::string open;
    auto flush = [&] {
      if (!open.empty())
        addParagraph(open);
      open.clear();
    };
    while (!notes.empty()) {
      size_t end = std::min(notes.find('\n'), notes.size());
      std::string line(notes.substr(0, end));
      notes.remove_prefix(std::min(end + 1, notes.size()));
      bool text = !line.empty() && line[0] != ' ';
      if (text)
        open += (open.empty() ? "" : " ") + line;
      else
        flush(), page += line + "\n";
    }
    flush();
  }

  std::string page;

private:
  size_t width;
};

} // namespace

static std::vector<const CLI::Option *> positionalsOf(const CLI::App &app) {
  return app.get_options([](const CLI::Option *option) {
    return option->get_positional() && !option->get_group().empty();
  });
}

static std::vector<const CLI::App *> commandsOf(const CLI::App &app) {
  return app.get_subcommands(
      [](const CLI::App *command) { return !command->get_group().empty(); });
}

static std::string usageOf(const CLI::App &app, const std::string &call) {
  std::string usage = "Usage: " + call;
  if (!commandsOf(app).empty())
    return usage + " command ...";
  usage += " [options]";
  for (const CLI::Option *option : positionalsOf(app))
    usage += option->get_required() ? " " + spellingOf(*option)
                                    : " [" + spellingOf(*option) + "]";
  return usage;
}

static void addOptions(Page &page,
                       const std::vector<const CLI::Option *> &options) {
  for (const CLI::Option *option : options)
    page.addTerm(spellingOf(*option),
                 option->get_description() +
                     (option->get_required() && option->nonpositional()
                          ? " (required)"
                          : ""));
}

/// Adds all flags; those without a heading come last.
static void addFlags(Page &page, const CLI::App &app) {
  constexpr const char *unnamed = "Options";
  std::vector<std::string> groups = app.get_groups();
  auto last = std::find(groups.begin(), groups.end(), unnamed);
  if (last != groups.end())
    std::rotate(last, last + 1, groups.end());
  bool alone = groups.size() == 1;
  for (const std::string &group : groups) {
    std::vector<const CLI::Option *> flags =
        app.get_options([&](const CLI::Option *option) {
          return option->get_group() == group && option->nonpositional();
        });
    if (group.empty() || flags.empty())
      continue;
    page.addHeading(group == unnamed && !alone ? "Other" : group);
    // CLI11 adds the help flag first; it moves to the end.
    std::rotate(flags.begin(),
                flags.begin() + (flags[0] == app.get_help_ptr() ? 1 : 0),
                flags.end());
    addOptions(page, flags);
  }
}

/// Returns the width of help in characters. On a terminal it is limited,
/// because long lines are hard to read; COLUMNS may be any number.
static size_t pageWidth() {
  constexpr size_t usual = 100, least = 40, most = 120;
  size_t width = std::max(least, outputWidth().value_or(usual));
  return isatty(STDOUT_FILENO) ? std::min(width, most) : width;
}

static std::string helpOf(const CLI::App *app, const std::string &call,
                          CLI::AppFormatMode) {
  Page page(pageWidth());
  page.addParagraph(app->get_description());
  page.page += "\n" + usageOf(*app, call) + "\n";
  if (std::vector<const CLI::Option *> operands = positionalsOf(*app);
      !operands.empty()) {
    page.page += "\n";
    addOptions(page, operands);
  }
  if (std::vector<const CLI::App *> commands = commandsOf(*app);
      !commands.empty()) {
    page.addHeading("Commands");
    for (const CLI::App *command : commands)
      page.addTerm(command->get_name(), command->get_description());
  }
  addFlags(page, *app);
  if (std::string notes = app->get_footer(); !notes.empty()) {
    page.page += "\n";
    page.addNotes(notes);
  }
  return std::move(page.page);
}

void autopar::formatHelp(CLI::App &app) {
  app.formatter_fn(helpOf);
  app.set_help_flag("-h,--help", "Print this");
}

std::string autopar::pageOf(const CLI::App &app) {
  return helpOf(&app, callOf(app), CLI::AppFormatMode::Normal);
}

//===----------------------------------------------------------------------===//
// The command autopar help
//===----------------------------------------------------------------------===//

static int printHelp(const CLI::App *app,
                     const std::vector<std::string> &words) {
  for (const std::string &word : words) {
    std::vector<const CLI::App *> found = app->get_subcommands(
        [&](const CLI::App *command) { return command->get_name() == word; });
    if (found.empty())
      return printError(unknownCommand(*app, word));
    app = found.front();
  }
  std::fputs(pageOf(*app).c_str(), stdout);
  return 0;
}

void autopar::addHelp(CLI::App &app) {
  CLI::App *help =
      app.add_subcommand("help", "Show what a command does, and its options");
  help->add_option("command")->description("A command: estimate, models show");
}

std::optional<int> autopar::answerHelp(const CLI::App &app, int argc,
                                       char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  bool asksForFlags =
      std::any_of(words.begin(), words.end(), [](const std::string &word) {
        return word.rfind('-', 0) == 0;
      });
  if (words.empty() || words.front() != "help" || asksForFlags)
    return std::nullopt;
  return printHelp(&app, {words.begin() + 1, words.end()});
}
