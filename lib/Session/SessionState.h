//===- SessionState.h - What a session owns ---------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SESSION_SESSIONSTATE_H
#define AUTOPAR_LIB_SESSION_SESSIONSTATE_H

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/InitAll.h"
#include "autopar/Session/Session.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

namespace autopar::session {

/// Keeps the first error that MLIR reports, and forwards warnings.
class Diagnostics {
public:
  /// With `withPlaces`, the message of an error says where in a text it is.
  Diagnostics(mlir::MLIRContext *context, const Session::Warn &warn,
              bool withPlaces = false)
      : warn(warn), withPlaces(withPlaces),
        handler(context, [this](mlir::Diagnostic &diagnostic) {
          take(diagnostic);
          return mlir::success();
        }) {}

  /// Returns the first error since the last call. It has no message if no
  /// diagnostic described it.
  Error takeError() {
    Error taken = error.value_or(Error());
    error.reset();
    return taken;
  }

  /// Returns `given`; if it has no message, the error that MLIR reported.
  Error orElse(const Error &given) {
    return given.message.empty() ? takeError() : given;
  }

private:
  void take(mlir::Diagnostic &diagnostic) {
    std::string text;
    llvm::raw_string_ostream(text) << diagnostic;
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning && warn)
      warn(text);
    if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error || error)
      return;
    error = Error{"", std::move(text), ""};
    if (auto place =
            llvm::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation());
        place && withPlaces)
      error->where = place.getFilename().str() + ":" +
                     std::to_string(place.getLine()) + ":" +
                     std::to_string(place.getColumn());
    for (mlir::Diagnostic &note : diagnostic.getNotes()) {
      llvm::raw_string_ostream os(error->note);
      os << (error->note.empty() ? "" : "; ") << note;
    }
  }

  const Session::Warn &warn;
  const bool withPlaces;
  std::optional<Error> error;
  mlir::ScopedDiagnosticHandler handler;
};

/// Searches the best plans of a model; MLIR's diagnostics go to `diagnostics`.
Result<SearchOutcome> searchModule(mlir::ModuleOp module,
                                   const SearchRequest &request,
                                   const Session::Warn &warn,
                                   Diagnostics &diagnostics,
                                   const search::SearchControl &control = {});

/// A model, with facts of its config that the module does not contain.
struct KnownModel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  int64_t contextLength = 0;
  std::vector<std::pair<std::string, std::string>> fields = {};
};

struct Session::State {
  explicit State(Warn warn)
      : warn(std::move(warn)), diagnostics(&context, this->warn) {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    // Plans are also read from models that no pass has processed, so that their
    // dialects are loaded here.
    context.loadDialect<transformer::TransformerDialect,
                        parallel::ParallelDialect>();
    context.printOpOnDiagnostic(false);
  }

  /// Returns `model`, which is imported when it is first used.
  Result<const KnownModel *> find(const importer::ModelRequest &model);
  Result<mlir::ModuleOp> import(importer::ModelRequest model) {
    model.asServed = true;
    Result<const KnownModel *> known = find(model);
    return known ? Result<mlir::ModuleOp>(*(*known)->module) : known.error();
  }
  /// Makes the parallel program of `request` from `model`.
  Result<mlir::OwningOpRef<mlir::ModuleOp>>
  shard(const importer::ModelRequest &model,
        const pipelines::PlanRequest &request);
  Result<std::shared_ptr<const report::PlanOutcome>>
  outcome(const importer::ModelRequest &model,
          const pipelines::PlanRequest &request, std::string name);
  std::optional<Error> run(mlir::ModuleOp module, AddPasses add);

  Warn warn;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  Diagnostics diagnostics;
  std::map<std::string, KnownModel> models;
  /// The models that were added as text, by name.
  std::map<std::string, KnownModel> added;
};

} // namespace autopar::session

#endif // AUTOPAR_LIB_SESSION_SESSIONSTATE_H
