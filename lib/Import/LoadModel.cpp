//===- LoadModel.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Import/LoadModel.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

using namespace autopar;
using namespace mlir;

void autopar::showProgress(const std::string &line) {
  static bool shown = false;
  if (!llvm::errs().is_displayed() || (line.empty() && !shown))
    return;
  shown = !line.empty();
  llvm::errs() << "\r\x1b[K" << line;
}

Result<Model> autopar::findModel(const ModelRequest &request) {
  Result<ModelFiles> files = locateModel(request.argument, request.hub);
  if (!files)
    return files.error();
  return readModel(*files, request.assumptions);
}

Result<OwningOpRef<ModuleOp>> autopar::buildModel(MLIRContext *context,
                                                  const Model &model) {
  Result<OwningOpRef<ModuleOp>> module = importModel(context, model);
  if (module && failed(verify(**module)))
    return Error();
  return module;
}

Result<OwningOpRef<ModuleOp>> autopar::loadModel(MLIRContext *context,
                                                 const ModelRequest &request) {
  Result<Model> model = findModel(request);
  if (!model)
    return model.error();
  return buildModel(context, *model);
}
