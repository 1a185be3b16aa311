//===- SearchCommand.cpp - The best plans of a model ----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interrupt.h"
#include "ModelCommands.h"

#include "autopar/Pipelines/FlagValues.h"
#include "autopar/Session/SearchRequests.h"
#include "autopar/Support/File.h"
#include "autopar/Support/TextStyle.h"

#include "llvm/Support/raw_ostream.h"

using namespace autopar;
using namespace autopar::estimation;
using namespace autopar::importer;
using namespace autopar::pipelines;
using namespace autopar::plan;
using namespace autopar::schedule;
using namespace autopar::search;
using namespace autopar::session;
using namespace mlir;

static int fail(const Error &error) {
  llvm::errs() << "error: " << error.str() << "\n";
  return 1;
}

namespace {

class SearchCommand {
public:
  SearchCommand(const SearchArgument &search, SearchRequest request,
                std::string output)
      : search(search), request(std::move(request)), output(std::move(output)) {
  }

  int run();

private:
  int write(const SearchReport &report);

  const SearchArgument &search;
  const SearchRequest request;
  const std::string output;
};

} // namespace

int SearchCommand::write(const SearchReport &report) {
  TextStyleScope style(output == "-" ? outputStyle() : TextStyle());
  Result<std::string> text = search.format == "html"   ? writePage(report)
                             : search.format == "json" ? writeJson(report)
                             : search.format == "csv"  ? writeCsv(report)
                                                       : writeText(report);
  if (!text)
    return fail(text.error());
  if (Result<bool> written = writeOutput(output, *text); !written)
    return fail(written.error());
  if (search.plansOutput.empty())
    return 0;
  for (size_t i = 0; i < report.result.frontier.size(); ++i)
    if (Result<bool> written = writeFile(
            search.plansOutput + "/" + std::to_string(i + 1) + ".json",
            writePlan(report.result.frontier[i].plan));
        !written)
      return fail(written.error());
  return 0;
}

int SearchCommand::run() {
  Result<ModelRequest> model = requestOf(search.model, search.model.name);
  if (!model)
    return fail(model.error());
  Session session([](const std::string &line) {
    llvm::errs() << "warning: " << line << "\n";
  });
  if (std::optional<Error> error =
          addModule(session, search.model, search.model.name))
    return fail(*error);
  noteInterrupts();
  SearchControl control;
  control.threads = search.threads;
  control.progress = [](std::string_view what, size_t done, size_t all) {
    if (done % 16 == 0)
      showProgress(std::to_string(done) + " of " + std::to_string(all) + " " +
                   std::string(what));
    return !wasInterrupted();
  };
  ReportDetail detail;
  // The report explains its numbers if the output is a page, because pages show
  // derivations.
  detail.explain = search.format == "html";
  Result<SearchReport> report = answerSearch(
      session, *model, search.model.name, request, search.why, control, detail);
  showProgress("");
  if (!report)
    return fail(report.error());
  int code = write(*report);
  return report->result.complete ? code : interruptedCode;
}

int autopar::searchPlans(const SearchArgument &search, PlanFlags &flags,
                         const PlanValues &values) {
  SearchChoices choices = search;
  choices.weightFormat = search.model.weightFormat;
  Result<SearchRequest> request = readSearchRequest(choices, flags, values);
  if (!request)
    return request.error().message.empty() ? 1 : fail(request.error());
  PlanValues own = values;
  std::vector<std::string> output = valuesOf(flags, own, "report-output");
  return SearchCommand(search, std::move(*request),
                       output.empty() ? "-" : output.back())
      .run();
}
