// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws the charts of a page: each <figure data-chart="kind" data-key="key">
// from the member "key" of the page's data.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);

// Okabe and Ito's colors, which people who see few colors tell apart.
const colors = [
  '#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8c564b',
  '#7f7f7f',
];

const style = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Four digits of a number at most.
const short = (value) => Number(value.toPrecision(4)).toLocaleString('en');

// A line through both axes where predicted = factor * measured.
const line = (factor, from, to) => ({
  type: 'line',
  label: factor === 1 ? 'equal' : '',
  data: [{x: from, y: from * factor}, {x: to, y: to * factor}],
  borderColor: style('--quiet'),
  borderDash: factor === 1 ? [] : [4, 4],
  borderWidth: 1,
  pointRadius: 0,
});

// Measured against predicted, both on logarithmic axes: {unit, series: [{name,
// points: [[id, measured, predicted], ...]}]}.
function parity(chart, width) {
  const all = chart.series.flatMap((one) => one.points);
  const values = all.flatMap((point) => [point[1], point[2]]);
  const from = values.reduce((a, b) => Math.min(a, b)) / 1.3;
  const to = values.reduce((a, b) => Math.max(a, b)) * 1.3;
  const series = chart.series.map((one, index) => ({
    label: one.name,
    data: one.points.map(([id, x, y]) => ({x, y, id})),
    backgroundColor: colors[index % colors.length] + 'b0',
    pointRadius: 3,
  }));
  const axis = (text) => ({
    type: 'logarithmic',
    min: from,
    max: to,
    title: {display: true, text: `${text}, ${chart.unit}`},
    grid: {color: style('--line')},
    ticks: {maxTicksLimit: 8, callback: short},
  });
  return {
    type: 'scatter',
    data: {datasets: [...series, line(1, from, to), line(1.2, from, to),
                      line(1 / 1.2, from, to)]},
    options: {
      aspectRatio: width < 600 ? 0.7 : 1.8,
      animation: false,
      scales: {x: axis('measured'), y: axis('predicted')},
      plugins: {
        legend: {position: 'bottom', labels: {filter: (item) => item.text}},
        tooltip: {
          filter: (item) => item.raw.id !== undefined,
          callbacks: {
            label: ({raw, dataset}) => [
              `${raw.id}: ${dataset.label}`,
              `measured ${short(raw.x)} ${chart.unit}, predicted ` +
                `${short(raw.y)} (${((raw.y / raw.x - 1) * 100).toFixed(1)} %)`,
            ],
          },
        },
      },
    },
  };
}

const kinds = {parity};

function draw() {
  Chart.defaults.color = style('--text');
  Chart.defaults.font.family = 'system-ui, sans-serif';
  for (const figure of document.querySelectorAll('figure[data-chart]')) {
    const canvas = figure.querySelector('canvas');
    Chart.getChart(canvas)?.destroy();
    const kind = kinds[figure.dataset.chart];
    new Chart(canvas, kind(data[figure.dataset.key], figure.clientWidth));
  }
}

draw();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
