// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What devices send: which collectives, over what, how long.

// The tiers that a collective crosses: those of its axes.
function tierOf(book, row) {
  if (row.wire_bytes_by_tier) return Object.keys(row.wire_bytes_by_tier).join(', ');
  const tiers = book.report.mesh.axes
    .filter((axis) => row.axes.includes(axis.name)).map((axis) => axis.tier);
  return [...new Set(tiers.filter(Boolean))].join(', ');
}

const collectiveColumns = [
  'collective', 'for', 'axes', numeric('devices'), 'over', numeric('count'), numeric('buffer'),
  numeric('sent'), numeric('time each'), numeric('time of all'),
];

function collectiveRow(book, row, i) {
  const path = `communication.collectives[${i}].`;
  const all = book.compute(`${path}time of all`, 'count * time_us',
                           [`${path}count`, `${path}time_us`], row.count * row.time_us,
                           microseconds);
  return [row.kind, row.name, row.axes.join(', '), book.number(`${path}group_size`),
          tierOf(book, row), book.number(`${path}count`), book.number(`${path}bytes`),
          book.number(`${path}wire_bytes_per_device`), book.number(`${path}time_us`), all];
}

function communicationSection(book) {
  const rows = book.report.communication.collectives;
  if (rows.length === 0) return null;
  return section('Communication',
                 el('p', {}, 'A device sends ',
                    book.number('communication.bytes_per_device'), ' in a step.'),
                 table('Collectives of a step', collectiveColumns,
                       rows.map((row, i) => collectiveRow(book, row, i))));
}
