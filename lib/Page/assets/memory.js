// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where memory goes: by part, against the budget, for each stage.

const memoryParts = [
  ['weights', 'weight_bytes'], ['KV cache', 'kv_cache_bytes'], ['states', 'state_bytes'],
  ['gradients', 'gradient_bytes'], ['optimizer', 'optimizer_bytes'],
  ['saved for backward', 'saved_bytes'], ['temporaries', 'reserved_bytes'],
  ['runtime', 'runtime_bytes'], ['allocator', 'allocator_bytes'],
];

function memoryChart(book) {
  const stages = book.report.memory.per_stage;
  const rows = stages.flatMap((stage, i) => memoryParts.map(([part, key]) => ({
    row: stages.length > 1 ? `stage ${i}` : 'a device', part, value: stage[key] ?? 0})));
  const budget = book.get('memory.budget_bytes');
  return stackedBars('Memory of a device, against the budget',
                     rows.filter((row) => row.value > 0),
                     {format: bytes, axis: byteAxis(budget),
                      rule: {value: budget, text: 'budget'}});
}

function memoryTable(book) {
  const folder = 'memory.per_device.';
  const row = (name, key) => [name, book.number(folder + key),
                              book.share(folder + key, `${folder}budget_bytes`)];
  const parts = memoryParts.filter(([, key]) => book.get(folder + key) > 0);
  return table(`Memory of a device (${book.report.memory.worst_device})`,
               ['', numeric('bytes'), numeric('of budget')],
               [...parts.map(([name, key]) => row(name, key)),
                row('total', 'total_bytes'), row('budget', 'budget_bytes'),
                row('usable', 'capacity_bytes')]);
}

function cacheTable(book) {
  const rows = [
    ['KV per token', 'memory.kv_bytes_per_token'],
    ['per device', 'memory.kv_bytes_per_token_per_device'],
    ['KV per sequence', 'memory.kv_bytes_per_sequence'],
    ['states per sequence', 'memory.state_bytes_per_sequence'],
    ['left for KV per device', 'memory.kv_capacity_bytes'],
  ].filter(([, path]) => book.get(path) > 0);
  if (rows.length === 0 || book.report.training) return null;
  return table('KV cache and states', ['', numeric('bytes')],
               rows.map(([name, path]) => [name, book.number(path)]));
}

function stageMemoryTable(book) {
  const stages = book.report.memory.per_stage;
  if (stages.length < 2) return null;
  const parts = memoryParts.filter(([, key]) => stages.some((stage) => stage[key] > 0));
  return table('Memory of the stages',
               ['stage', ...parts.map(([name]) => numeric(name)), numeric('total')],
               stages.map((_, i) => [
                 `${i}`,
                 ...parts.map(([, key]) => book.number(`memory.per_stage[${i}].${key}`)),
                 book.number(`memory.per_stage[${i}].total_bytes`)]));
}

function memorySection(book) {
  return section('Memory', memoryChart(book),
                 el('div', {class: 'beside'}, memoryTable(book), cacheTable(book) ?? ''),
                 stageMemoryTable(book));
}
