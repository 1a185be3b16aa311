// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans, machines or models side by side.

// What a row is called: what rows differ in.
function rowNames(rows) {
  const parts = ['model', 'hardware', 'plan'];
  const differing = parts.filter((part) => new Set(rows.map((row) => row[part])).size > 1);
  return rows.map((row, i) =>
    (differing.length ? differing : ['plan']).map((part) => row[part]).join(', ') || `${i + 1}`);
}

const comparedNumbers = [
  ['devices', 'mesh.devices'], ['memory', 'memory.per_device.total_bytes'],
  ['weights', 'memory.per_device.weight_bytes'],
  ['KV cache', 'memory.per_device.kv_cache_bytes'], ['step', 'latency.step_time_us'],
  ['tokens/s', 'throughput.tokens_per_s'], ['sequences', 'capacity.sequences'],
  ['first token', 'serving.ttft_us.mean'], ['other tokens', 'serving.tpot_us.mean'],
  ['$ / M tokens', 'cost.usd_per_million_tokens'], ['energy per token', 'cost.joules_per_token'],
  ['sent', 'communication.bytes_per_device'],
];

// Those that any of `books` has.
function comparedColumns(books) {
  return comparedNumbers.filter(([, path]) => books.some((book) => book.get(path) > 0));
}

function comparedTable(names, books) {
  const columns = comparedColumns(books);
  return table('Side by side',
               ['', 'fits', 'bound by', ...columns.map(([title]) => numeric(title))],
               books.map((book, i) => [
                 names[i], book.get('memory.per_device.fits') ? 'yes' : el('strong', {class: 'bad'}, 'no'),
                 book.report.latency.bound, ...columns.map(([, path]) => book.number(path))]));
}

function comparedMemory(names, books) {
  const rows = books.flatMap((book, i) => memoryParts.map(([part, key]) => ({
    row: names[i], part, value: book.get(`memory.per_device.${key}`) ?? 0})));
  const most = d3.max(books, (book) => book.get('memory.per_device.total_bytes'));
  return stackedBars('Memory of a device', rows.filter((row) => row.value > 0),
                     {format: bytes, axis: byteAxis(most)});
}

function comparedTime(names, books) {
  const rows = books.flatMap((book, i) => timeParts.map((part) => ({
    row: names[i], part, value: book.get(`latency.${part}_time_us`) ?? 0})));
  return stackedBars('Time of a step', rows.filter((row) => row.value > 0),
                     {format: microseconds, axis: {label: 'time', tickFormat: microseconds}});
}

function opBars(names, books) {
  const rows = books.flatMap((book, i) => book.report.breakdown.by_op
    .filter((row) => row.time_us > 0)
    .map((row) => ({row: names[i], part: row.name,
                    value: row.time_us / book.get('latency.step_time_us')})));
  return stackedBars('Share of each op in the time of a step', rows,
                     {format: percent, axis: {label: null, tickFormat: percent}});
}

// The other phase of the same sequences under the same plan.
function phasesSection(book, beside) {
  if (!beside) return null;
  const phases = [book.report, beside].map((report) => report.workload.phase);
  const books = [book, new Book(beside, phases[1])];
  const title = `${phases[1][0].toUpperCase()}${phases[1].slice(1)} beside ${phases[0]}`;
  return section(title, comparedTable(phases, books),
                 comparedTime(phases, books), opBars(phases, books));
}

// What two plans do with collectives and tensors, as far as it differs.
function differenceTable(caption, pairs, key, value) {
  if (pairs.different.length === 0) return null;
  const side = (one) => one ? value(one) : '-';
  return table(`${caption}; ${pairs.equal} are equal`, ['', 'A', 'B'],
               pairs.different.map((pair) => [
                 key(pair), ...['a', 'b'].map((name) =>
                   el('span', {class: 'text'}, side(pair[name])))]));
}

function differenceSection(difference) {
  if (!difference) return null;
  const {ir} = difference;
  return section('Differences',
    el('p', {class: 'text'}, `A is ${difference.a.name}, B is ${difference.b.name}`),
    differenceTable('Collectives of the program', ir.collectives,
                    (one) => `${one.layer}: ${one.kind} over ${one.axes.join(', ')} ${one.dims ?? ''}`,
                    (one) => `${one.count}`),
    differenceTable('Weights, caches and states', ir.tensors,
                    (one) => `${one.layer}/${one.name}`,
                    (one) => `${one.layout} ${one.format}`));
}

function refusedList(rows) {
  const refused = rows.filter((row) => !row.report);
  if (refused.length === 0) return null;
  return section('Refused', el('ul', {class: 'text'}, refused.map((row) =>
    el('li', {}, [row.model, row.hardware, row.plan].filter(Boolean).join(' ') + ': ' + row.refusal))));
}

// One of several reports in full.
function chosenReport(names, books) {
  const place = el('div', {});
  const show = (i) => place.replaceChildren(...sectionsOf(books[i], {}));
  const choice = el('select', {onchange: () => show(choice.selectedIndex)},
                    names.map((name) => el('option', {}, name)));
  show(0);
  return [el('p', {class: 'actions'}, el('label', {}, 'In full ', choice)), place];
}

function comparisonView({table: compared, difference}) {
  const rows = compared.rows.filter((row) => row.report);
  const names = rowNames(rows);
  const books = rows.map((row, i) => new Book(row.report, names[i]));
  return [
    el('header', {class: 'answer'}, el('h1', {class: 'text'}, 'Comparison'), questionLine(books[0])),
    comparedTable(names, books), comparedTime(names, books), comparedMemory(names, books),
    differenceSection(difference) ?? '', refusedList(compared.rows) ?? '',
    ...chosenReport(names, books),
  ];
}
