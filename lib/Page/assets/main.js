// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the page was written with decides what it shows: the first of these that
// it has.
const views = [
  ['search', searchView], ['table', comparisonView], ['deployment', deploymentView],
  ['placement', placementView], ['report', reportView],
];

// JSON, or, where it is long, what gzip made of it, in base 64.
async function readData() {
  const text = document.getElementById('data').textContent;
  if (text.startsWith('{')) return JSON.parse(text);
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).json();
}

async function main() {
  const data = await readData();
  fillFigures(data);
  if (data.live) {
    liveView(document.querySelector('main'));
    return;
  }
  const view = views.find(([member]) => data[member]);
  if (view) document.querySelector('main').replaceChildren(...view[1](data));
}

main();
