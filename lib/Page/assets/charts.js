// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Charts by Observable Plot, drawn again as wide as they are shown.

// Okabe and Ito's colors, which people who see few colors tell apart.
const palette = [
  '#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8c6d31',
  '#7f7f7f',
];

// Of parts of memory and of time, the same in all charts.
const partColors = {
  weights: palette[0], 'KV cache': palette[2], states: palette[5],
  gradients: palette[3], optimizer: palette[1], 'saved for backward': palette[4],
  temporaries: palette[6], runtime: palette[7], allocator: '#b0b0b0',
  compute: palette[2], memory: palette[0], communication: palette[1],
  overhead: palette[7], host: palette[4], pipeline: '#b0b0b0',
};

function colorsOf(names) {
  const range = names.map((name, i) => partColors[name] ?? palette[i % palette.length]);
  return {domain: names, range};
}

// `options(width)` are those of Plot.plot. What its style elements say is in
// the page's style: the page runs no other.
function draw(figure, options, space = figure.clientWidth || 800) {
  const width = Math.max(280, Math.min(space, 1400));
  const plot = Plot.plot({className: 'plot', width, ...options(width)});
  for (const style of plot.querySelectorAll('style')) style.remove();
  for (const svg of plot.matches('svg') ? [plot] : plot.querySelectorAll('svg'))
    svg.setAttribute('aria-hidden', 'true');
  figure.querySelector('.drawing').replaceChildren(plot);
}

const drawings = new WeakMap();
const resized = new ResizeObserver((entries) => {
  for (const {target, contentRect} of entries) {
    const drawing = drawings.get(target);
    if (!drawing || contentRect.width === 0 || drawing.width === contentRect.width) continue;
    drawing.width = contentRect.width;
    draw(target, drawing.options);
  }
});

// Paper is narrower than most windows: charts are drawn for it, and then back.
function drawAll(space) {
  for (const figure of document.querySelectorAll('figure')) {
    const drawing = drawings.get(figure);
    if (drawing?.width > 0) draw(figure, drawing.options, space);
  }
}
addEventListener('beforeprint', () => drawAll(700));
addEventListener('afterprint', () => drawAll());

// A figure under a caption that says what it shows.
function chart(caption, options) {
  const figure = el('figure', {}, el('div', {class: 'drawing', role: 'img', 'aria-label': caption}),
                    el('figcaption', {}, caption));
  drawings.set(figure, {options, width: 0});
  resized.observe(figure);
  return figure;
}

// One bar in parts: [{row, part, value}].
function stackedBars(caption, rows, {format, axis, rule}) {
  const parts = [...new Set(rows.map((row) => row.part))];
  const names = [...new Set(rows.map((row) => row.row))];
  const longest = Math.max(...names.map((name) => name.length));
  return chart(caption, () => ({
    height: 70 + 26 * names.length,
    marginLeft: Math.min(160, 12 + 7 * longest),
    x: {grid: true, ticks: 6, ...axis},
    y: {label: null, domain: names},
    color: {...colorsOf(parts), legend: true},
    marks: [
      Plot.barX(rows, {x: 'value', y: 'row', fill: 'part', insetLeft: 0.5, insetRight: 0.5,
                       tip: {format: {x: format}}, order: parts}),
      ...(rule ? [Plot.ruleX([rule.value], {stroke: 'currentColor', strokeDasharray: '4 3'}),
                  Plot.text([rule.value], {x: (value) => value, text: () => rule.text,
                                           frameAnchor: 'top', dy: -8, textAnchor: 'end'})]
            : []),
    ],
  }));
}
