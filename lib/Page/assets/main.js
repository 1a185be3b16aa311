// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the page was written with decides what it shows.

const views = {report: reportView, deployment: deploymentView};

function main() {
  const data = JSON.parse(document.getElementById('data').textContent);
  fillFigures(data);
  const view = views[data.kind];
  if (view) document.querySelector('main').replaceChildren(...view(data));
}

main();
