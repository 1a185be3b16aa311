// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers, kernel by kernel, and the kernels under the machine's roofs.

const kernelColumns = [
  'kernel', 'op', numeric('count'), numeric('time'), numeric('FLOPs'), numeric('bytes'),
  numeric('of peak'), 'bound by',
];

function kernelRow(book, kernel, i) {
  const path = `breakdown.by_kernel[${i}].`;
  const name = kernel.name.slice(kernel.name.indexOf('/') + 1);
  return [name, kernel.op, book.number(`${path}count`), book.number(`${path}time_us`),
          book.number(`${path}flops`), book.number(`${path}bytes`),
          book.share(`${path}peak_time_us`, `${path}time_us`), kernel.bound];
}

// Collectives are named after their layers: "decoder/sum, decoder/sum#2".
function collectivesOf(book, layer) {
  const rows = book.report.communication.collectives
    .map((row, i) => ({row, i}))
    .filter(({row}) => row.name.startsWith(`${layer}/`));
  if (rows.length === 0) return null;
  return table(`Communication of ${layer}`, collectiveColumns,
               rows.map(({row, i}) => collectiveRow(book, row, i)));
}

function layerDetails(book, layer, i, isOpen) {
  const path = `breakdown.by_layer[${i}].`;
  const kernels = (book.report.breakdown.by_kernel ?? [])
    .map((kernel, at) => ({kernel, at}))
    .filter(({kernel}) => kernel.layer === layer.name);
  if (kernels.length === 0) return null;
  return el('details', {open: isOpen},
            el('summary', {}, layer.name),
            el('p', {}, book.number(`${path}count`), ' a step: ', book.number(`${path}time_us`),
               ', ', book.share(`${path}time_us`, 'latency.step_time_us'), ' of it; ',
               book.number(`${path}flops`), ', ', book.number(`${path}bytes`)),
            table(`Kernels of ${layer.name}`, kernelColumns,
                  kernels.map(({kernel, at}) => kernelRow(book, kernel, at))),
            collectivesOf(book, layer.name) ?? '');
}

function layerSection(book) {
  const layers = book.report.breakdown.by_layer;
  const heaviest = d3.maxIndex(layers, (layer) => layer.time_us);
  return section('Layers',
                 table('By kind of layer, per device', workColumns('layer'),
                       layers.map((layer, i) =>
                         workRow(book, 'breakdown.by_layer', i, layer.name))),
                 layers.map((layer, i) => layerDetails(book, layer, i, i === heaviest)));
}

function roofPoints(book) {
  return (book.report.breakdown.by_kernel ?? [])
    .filter((kernel) => kernel.flops > 0 && kernel.time_us > 0 && kernel.bytes > 0)
    .map((kernel) => ({
      kernel: kernel.name, op: kernel.op, time: microseconds(kernel.time_us),
      size: kernel.time_us, intensity: kernel.flops / kernel.bytes,
      rate: kernel.flops / kernel.time_us * 1e6, peak: kernel.peak_flops_per_s,
    }));
}

// The most FLOPs a second at an intensity, under each peak.
function roofLines(points, bandwidth) {
  const ridges = points.map((point) => point.peak / bandwidth);
  const intensities = points.map((point) => point.intensity);
  const from = Math.min(...intensities, ...ridges) / 3, to = Math.max(...intensities, ...ridges) * 3;
  return [...new Set(points.map((point) => point.peak))].map((peak) => {
    const ridge = peak / bandwidth;
    return [...new Set([from, Math.min(Math.max(ridge, from), to), to])].map((intensity) => ({
      intensity, rate: Math.min(peak, intensity * bandwidth), peak: `${flops(peak)}/s`}));
  });
}

function rooflineSection(book) {
  const points = roofPoints(book);
  if (points.length === 0) return null;
  const lines = roofLines(points, book.report.breakdown.memory_bandwidth_bytes_per_s);
  const perSecond = (value) => `${flops(value)}/s`;
  return section('Roofline', chart(
    'Kernels under the roofs of memory and of arithmetic; larger dots take more time',
    (width) => ({
      height: Math.min(480, Math.max(300, width * 0.5)), marginLeft: 90,
      x: {type: 'log', label: 'FLOPs for each byte', grid: true, tickFormat: (v) => digits(v, 2)},
      y: {type: 'log', label: null, grid: true, tickFormat: perSecond, ticks: 5},
      r: {range: [2.5, 14]},
      color: {...colorsOf([...new Set(points.map((point) => point.op))]), legend: true},
      marks: [
        ...lines.map((line) => Plot.line(line, {x: 'intensity', y: 'rate', stroke: 'currentColor'})),
        Plot.dot(points, {x: 'intensity', y: 'rate', r: 'size', fill: 'op', fillOpacity: 0.75,
                          channels: {kernel: 'kernel', time: 'time'},
                          tip: {format: {y: perSecond, x: (v) => digits(v, 3), r: false}}}),
      ],
    })),
    el('p', {class: 'quiet'}, 'Memory bandwidth ',
       book.number('breakdown.memory_bandwidth_bytes_per_s')));
}
