// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the page was written with decides what it shows: the first of these that
// it has.
const views = [
  ['search', searchView], ['table', comparisonView], ['deployment', deploymentView],
  ['placement', placementView], ['report', reportView],
];

function main() {
  const data = JSON.parse(document.getElementById('data').textContent);
  fillFigures(data);
  if (data.live) {
    liveView(document.querySelector('main'));
    return;
  }
  const view = views.find(([member]) => data[member]);
  if (view) document.querySelector('main').replaceChildren(...view[1](data));
}

main();
