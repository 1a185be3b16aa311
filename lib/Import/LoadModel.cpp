//===- LoadModel.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Import/LoadModel.h"

#include "mlir/IR/Verifier.h"

using namespace autopar;
using namespace mlir;

Result<OwningOpRef<ModuleOp>> autopar::loadModel(MLIRContext *context,
                                                 const ModelRequest &request) {
  Result<ModelFiles> files = locateModel(request.argument, request.hub);
  if (!files)
    return files.error();
  Result<Model> model = readModel(*files, request.assumptions);
  if (!model)
    return model.error();
  Result<OwningOpRef<ModuleOp>> module = importModel(context, *model);
  if (module && failed(verify(**module)))
    return Error();
  return module;
}
