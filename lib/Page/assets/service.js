// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a service does under load, and what an iteration of training is made of.

function percentileTable(book) {
  const rows = [['time to first token', 'ttft_us'], ['time per output token', 'tpot_us'],
                ['whole request', 'request_us']];
  const marks = ['mean', 'p50', 'p90', 'p95', 'p99'];
  return table('Times of requests', ['', ...marks.map(numeric)],
               rows.map(([name, key]) => [
                 name, ...marks.map((mark) => book.number(`serving.${key}.${mark}`))]));
}

function loadChart(book) {
  const points = book.report.serving.load_curve?.points ?? [];
  if (points.length < 2) return null;
  const rows = points.flatMap((point) => [
    {load: point.output_tokens_per_s, what: 'time to first token', time: point.ttft_us.mean},
    {load: point.output_tokens_per_s, what: 'time per output token', time: point.tpot_us.mean},
  ]).filter((row) => row.time != null);
  return chart('Mean times under load', (width) => ({
    height: Math.min(400, Math.max(260, width * 0.4)), marginLeft: 70,
    x: {label: 'output tokens/s', grid: true},
    y: {type: 'log', label: null, tickFormat: microseconds, grid: true, ticks: 5},
    color: {...colorsOf(['time to first token', 'time per output token']), legend: true},
    marks: [Plot.line(rows, {x: 'load', y: 'time', stroke: 'what', marker: true,
                             tip: {format: {y: microseconds, x: digits}}})],
  }));
}

function serviceSection(book) {
  if (typeof book.get('serving.requests_per_s') !== 'number') return null;
  const rows = [
    ['requests/s', 'requests_per_s'], ['saturation rate, requests/s', 'saturates_at_per_s'],
    ['output tokens/s', 'output_tokens_per_s'], ['within limits', 'share_within_limits'],
    ['running requests', 'running'], ['waiting requests', 'waiting'],
    ['share of KV cache in use', 'kv_share'],
  ].filter(([, key]) => typeof book.get(`serving.${key}`) === 'number');
  return section('Service', loadChart(book), percentileTable(book),
                 table('Steady state', ['', numeric('')],
                       rows.map(([name, key]) => [name, book.number(`serving.${key}`)])));
}

function iterationRows(book) {
  return [
    ['forward', 'forward_time_us'], ['backward', 'backward_time_us'],
    ['optimizer', 'optimizer_time_us'], ['bubble', 'bubble_time_us'],
    ['stragglers', 'straggler_time_us'],
  ].map(([name, key]) => [name, book.number(`training.${key}`),
                          book.share(`training.${key}`, 'latency.step_time_us')]);
}

function exposureTable(book) {
  const rows = book.report.training.exposure;
  if (rows.length === 0) return null;
  return table('Exposed communication',
               ['section', 'for', 'axes', numeric('time'), numeric('exposed'), numeric('share')],
               rows.map((row, i) => [
                 row.section, row.purpose, row.axes.join(', '),
                 ...['time_us', 'exposed_time_us', 'exposed_share'].map((key) =>
                   book.number(`training.exposure[${i}].${key}`))]));
}

function aliveTable(book) {
  const rows = book.report.training.alive;
  if (rows.length === 0) return null;
  return table('Saved for the backward at the peak',
               ['value', 'layer', numeric('count'), numeric('bytes of one')],
               rows.map((row, i) => [
                 row.name, row.layer, book.number(`training.alive[${i}].count`),
                 book.number(`training.alive[${i}].bytes`)]));
}

function trainingSection(book) {
  const {training} = book.report;
  if (!training) return null;
  return section('Iteration',
                 table('Time of an iteration', ['', numeric('time'), numeric('of it')],
                       iterationRows(book)),
                 exposureTable(book), aliveTable(book),
                 el('details', {}, el('summary', {}, 'Not modelled'),
                    el('ul', {}, training.not_modelled.map((text) => el('li', {class: 'text'}, text)))));
}
