// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measured against predicted.

// {unit, series: [{name, points: [[id, measured, predicted], ...]}]}.
function parity(data, caption) {
  const points = data.series.flatMap(({name, points: own}) =>
    own.map(([id, measured, predicted]) => ({id, model: name, measured, predicted})));
  const values = points.flatMap((point) => [point.measured, point.predicted]);
  const from = d3.min(values) / 1.3, to = d3.max(values) * 1.3;
  const line = (factor) => [from, to].map((x) => ({x, y: x * factor}));
  const names = data.series.map((one) => one.name);
  const axis = (label) => ({type: 'log', domain: [from, to], label: `${label}, ${data.unit}`,
                            grid: true, ticks: 5, tickFormat: (value) => digits(value, 2)});
  return chart(caption, (width) => ({
    height: Math.min(620, Math.max(320, width * 0.6)), marginLeft: 60,
    x: axis('measured'),
    y: axis('predicted'),
    color: {domain: names, range: names.map((_, i) => palette[i % palette.length]), legend: true},
    marks: [
      Plot.line(line(1), {x: 'x', y: 'y', stroke: 'currentColor', strokeOpacity: 0.6, clip: true}),
      ...[1.2, 1 / 1.2].map((factor) =>
        Plot.line(line(factor), {x: 'x', y: 'y', stroke: 'currentColor', strokeOpacity: 0.4,
                                 strokeDasharray: '4 4', clip: true})),
      Plot.dot(points, {x: 'measured', y: 'predicted', stroke: 'model', r: 2.5,
                        channels: {row: 'id'}, tip: true}),
    ],
  }));
}

const figureKinds = {parity};

// Fills the figures that the page was written with.
function fillFigures(data) {
  for (const figure of document.querySelectorAll('figure[data-chart]')) {
    const caption = figure.querySelector('figcaption').textContent;
    figure.replaceWith(figureKinds[figure.dataset.chart](data[figure.dataset.key], caption));
  }
}
