//===- HubFolder.h - A repository as a folder of files ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_IMPORT_HUBFOLDER_H
#define AUTOPAR_LIB_IMPORT_HUBFOLDER_H

#include "autopar/Checkpoint/ByteSource.h"
#include "autopar/Hub/Hub.h"

namespace autopar::importer {

/// Opens the files of "org/name" on the hub. Only the ranges that readers ask
/// for are fetched: the headers of a checkpoint, not its tensors.
std::unique_ptr<checkpoint::ByteFolder> openHubFolder(std::string repository,
                                                      hub::HubOptions options);

} // namespace autopar::importer

#endif // AUTOPAR_LIB_IMPORT_HUBFOLDER_H
