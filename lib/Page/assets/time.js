// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where time goes: by what bounds it, by op, and down into layers.

const timeParts = ['compute', 'memory', 'communication', 'overhead', 'pipeline'];

function timeChart(book) {
  const {latency} = book.report;
  const rows = timeParts.map((part) => ({
    row: 'step', part, value: latency[`${part}_time_us`] ?? 0}));
  return stackedBars('Time of a step, by what bounds each kernel',
                     rows.filter((row) => row.value > 0),
                     {format: microseconds, axis: {label: 'time', tickFormat: microseconds}});
}

function timeTable(book) {
  const parts = timeParts.filter((part) => book.get(`latency.${part}_time_us`) !== undefined);
  const peak = (part) => book.number(`latency.bounds.${part}_time_us`);
  return table('Time of a step',
               ['', numeric('time'), numeric('of step'), numeric('all at peak rates')],
               [...parts.map((part) => [
                  part, book.number(`latency.${part}_time_us`),
                  book.share(`latency.${part}_time_us`, 'latency.step_time_us'), peak(part)]),
                ['step', book.number('latency.step_time_us'), '', '']]);
}

function opChart(book) {
  const rows = book.report.breakdown.by_op.filter((row) => row.time_us > 0);
  return chart('Time of a step by op', () => ({
    height: 50 + 22 * rows.length,
    marginLeft: Math.min(170, 12 + 7 * Math.max(...rows.map((row) => row.name.length))),
    x: {label: 'time', tickFormat: microseconds, grid: true, ticks: 5},
    y: {label: null},
    marks: [Plot.barX(rows, {x: 'time_us', y: 'name', fill: palette[0],
                             sort: {y: '-x'}, tip: {format: {x: microseconds}}})],
  }));
}

// Rows of the breakdown, all in one form.
function workRow(book, folder, i, name) {
  const path = `${folder}[${i}].`;
  return [name, book.number(`${path}count`), book.number(`${path}time_us`),
          book.share(`${path}time_us`, 'latency.step_time_us'), book.number(`${path}flops`),
          book.number(`${path}bytes`)];
}

const workColumns = (first) => [first, numeric('count'), numeric('time'), numeric('of step'),
                                numeric('FLOPs'), numeric('bytes')];

function opTable(book) {
  const folder = 'breakdown.by_op';
  return table('By op, per device', workColumns('op'),
               book.report.breakdown.by_op.map((row, i) => workRow(book, folder, i, row.name)));
}

function waterfallTable(book) {
  const steps = book.report.waterfall;
  if (!steps) return null;
  let from = 0;
  const rows = steps.map((step) => {
    const row = {name: step.name, from, to: from + step.time_us};
    from = row.to;
    return row;
  });
  return chart('From peak rates to the time of the step', () => ({
    height: 60 + 24 * rows.length,
    marginLeft: Math.min(230, 12 + 6.5 * Math.max(...rows.map((row) => row.name.length))),
    x: {label: 'time', tickFormat: microseconds, grid: true, ticks: 5},
    y: {label: null, domain: rows.map((row) => row.name)},
    marks: [Plot.barX(rows, {x1: 'from', x2: 'to', y: 'name', fill: palette[1],
                             tip: {format: {x1: microseconds, x2: microseconds}}})],
  }));
}

function prefillSteps(book) {
  const steps = book.report.prefill_steps;
  if (!steps) return null;
  const keys = ['count', 'batch', 'query_length', 'context_length', 'step_time_us'];
  return table('Steps of the prefill',
               ['step', numeric('count'), numeric('sequences'), numeric('tokens'),
                numeric('context'), numeric('time')],
               steps.map((_, i) => [
                 `${i}`, ...keys.map((key) => book.number(`prefill_steps[${i}].${key}`))]));
}

function timeSection(book) {
  return section('Time', timeChart(book),
                 el('div', {class: 'beside'}, timeTable(book), waterfallTable(book) ?? ''),
                 prefillSteps(book), opChart(book), opTable(book));
}
