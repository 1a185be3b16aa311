// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which rank holds which experts, and how even that is.

function placementView({placement}) {
  const cells = placement.layers.flatMap((layer) => layer.rank_tokens.map((tokens, rank) => ({
    layer: layer.layer, rank, load: tokens / layer.mean_tokens})));
  // Colors tell ranks apart from where they are a tenth apart.
  const reach = Math.max(0.1, d3.max(cells, (cell) => Math.abs(cell.load - 1)));
  const heat = chart('Load of each rank over the mean, by layer', (width) => ({
    height: 80 + Math.min(1400, 12 * placement.layers.length), marginLeft: 50,
    x: {type: 'band', label: 'rank', tickFormat: (rank) => rank % 8 === 0 ? `${rank}` : ''},
    y: {type: 'band', label: 'layer', tickFormat: (layer) => layer % 4 === 0 ? `${layer}` : ''},
    color: {type: 'diverging', scheme: 'RdBu', reverse: true, pivot: 1, legend: true,
            domain: [1 - reach, 1 + reach],
            label: 'load / mean', tickFormat: (value) => digits(value, 3)},
    marks: [Plot.cell(cells, {x: 'rank', y: 'layer', fill: 'load', inset: 0.5,
                              tip: {format: {fill: (value) => digits(value)}}})],
  }));
  const imbalance = chart('Most loaded rank over the mean, before and after', () => ({
    height: 300, marginLeft: 50,
    x: {label: 'layer'}, y: {label: 'most loaded / mean', grid: true},
    color: {...colorsOf(['in blocks', 'placed']), legend: true},
    marks: [
      Plot.line(placement.layers, {x: 'layer', y: 'block_imbalance', stroke: () => 'in blocks'}),
      Plot.line(placement.layers, {x: 'layer', y: 'imbalance', stroke: () => 'placed', tip: true}),
      Plot.ruleY([1]),
    ],
  }));
  const rows = placement.layers.map((layer) => [
    `layer ${layer.layer}`, ...['block_imbalance', 'imbalance'].map((key) => el('span', {class: 'text'}, digits(layer[key])))]);
  return [
    el('header', {class: 'answer'}, el('h1', {class: 'text'}, 'Expert placement'),
       el('p', {class: 'text'},
          `${placement.policy}: ${placement.experts} experts on ${placement.ranks} ranks of ` +
          `${placement.slots_per_rank} slots, ${placement.nodes} nodes; the most loaded rank has ` +
          `${digits(placement.mean_imbalance)} times the mean, at worst ${digits(placement.worst_imbalance)}`)),
    imbalance, heat,
    el('details', {}, el('summary', {}, 'All layers'), table('Imbalance', ['', 'in blocks', 'placed'], rows)),
    el('p', {class: 'actions'}, el('button', {
      type: 'button', onclick: () => download('placement.json', 'application/json',
                                              JSON.stringify(placement))}, 'Save as JSON')),
  ];
}
