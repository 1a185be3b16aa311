// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The best plans of a space, and the outcome of all others.

function frontierRows(search) {
  return search.frontier.map((point, i) => ({
    ...point, time: point.step_time_us ?? point.request_time_us,
    perDevice: point.tokens_per_s / point.devices, isBest: i === search.best}));
}

function frontierChart(search) {
  const rows = frontierRows(search);
  const target = (row) => `${row.hardware}, ${row.devices} devices`;
  return chart('Pareto frontier; the best plan is filled', (width) => ({
    height: Math.min(460, Math.max(280, width * 0.45)), marginLeft: 70,
    x: {type: 'log', label: search.frontier[0].step_time_us ? 'time of a step' : 'time of a request',
        tickFormat: microseconds, grid: true, ticks: 6},
    y: {label: 'tokens/s per device', grid: true},
    color: {...colorsOf([...new Set(rows.map(target))]), legend: true},
    marks: [
      Plot.line(rows, {x: 'time', y: 'perDevice', stroke: target, strokeOpacity: 0.5}),
      Plot.dot(rows, {x: 'time', y: 'perDevice', stroke: target, r: 5,
                      fill: (row) => row.isBest ? target(row) : 'none',
                      channels: {plan: 'label', batch: 'batch'},
                      tip: {format: {x: microseconds, y: digits}}}),
    ],
  }));
}

function frontierTable(book) {
  const {search} = book.report;
  const keys = ['step_time_us', 'request_time_us', 'ttft_us', 'tpot_us', 'total_bytes',
                'tokens_per_s', 'usd_per_million_tokens', 'batch', 'devices']
    .filter((key) => search.frontier.some((point) => typeof point[key] === 'number'));
  const title = (key) => key.replace(/_us$|_per_s$/, '').replaceAll('_', ' ');
  return table('The frontier', ['plan', 'machine', ...keys.map((key) => numeric(title(key)))],
               search.frontier.map((point, i) => [
                 i === search.best ? el('strong', {}, `${point.label} (best)`) : point.label,
                 point.hardware, ...keys.map((key) => book.number(`search.frontier[${i}].${key}`))]));
}

function effectTable(search) {
  const rows = Object.entries(search.effects);
  if (rows.length === 0) return null;
  return table('Values of each choice within 5% of the best', ['choice', 'values'],
               rows.map(([name, effect]) => [
                 name, el('span', {class: 'text'}, effect.within_5_percent.join(', '))]));
}

function proofTable(book) {
  const {proof} = book.report.search;
  const keys = Object.keys(proof).filter((key) => typeof proof[key] === 'number');
  return table(proof.complete ? 'Proof: points of the space by outcome' : 'The search was stopped',
               ['', numeric('points')],
               keys.map((key) => [key.replaceAll('_', ' '), book.number(`search.proof.${key}`)]));
}

// Numbers of a search are prices of its tapes; the best plan's are derived below.
function searchDerivations(search) {
  const given = (source) => ({formula: 'given', inputs: {}, sources: [source]});
  return Object.fromEntries([
    ...search.frontier.flatMap((point, i) => Object.keys(point).map((key) => [
      `search.frontier[${i}].${key}`,
      given(`the price of this plan: autopar estimate ${search.model} with --plan='${point.label}'`)])),
    ...Object.keys(search.proof).map((key) => [
      `search.proof.${key}`, given('counted by the search')]),
  ]);
}

function searchView({search, report, module}) {
  const book = new Book({search, derivations: searchDerivations(search)}, 'search');
  const {workload} = search;
  const head = el('header', {class: 'answer'},
    el('h1', {class: 'text'}, `${search.model}: the best plans in ${search.goal}`),
    el('p', {class: 'text'}, `${workload.phase} at context ${workload.context_length}; ` +
                             (search.space ? `space ${search.space}` : 'the whole space')));
  const found = search.frontier.length === 0
    ? [el('p', {}, el('strong', {class: 'bad'}, 'No plan of the space fits.'))]
    : [frontierChart(search), frontierTable(book), effectTable(search) ?? ''];
  return [head, ...found, proofTable(book),
          ...(report ? [el('h2', {}, search.frontier.length ? 'The best plan' : 'The closest plan'),
                        ...reportView({report, module}, 'best')] : [])];
}
