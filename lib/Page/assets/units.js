// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers as people read them, by the units that end their names.

// As many as tell values apart, without more than two decimals above 1.
const digits = (value, count = 4) =>
  Number(value.toPrecision(Math.abs(value) < 1 ? Math.min(count, 3) : count))
    .toLocaleString('en', {maximumFractionDigits: Math.abs(value) < 1 ? 12 : 2});

const whole = (value) => value.toLocaleString('en', {maximumFractionDigits: 0});

function scaled(value, step, units) {
  let unit = 0;
  while (Math.abs(value) >= step && unit + 1 < units.length) {
    value /= step;
    ++unit;
  }
  const text = unit === 0 && Number.isInteger(value) ? whole(value) : digits(value);
  return `${text} ${units[unit]}`;
}

const bytes = (value) => scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']);
const flops = (value) =>
  value === 0 ? '0' : scaled(value, 1000, ['FLOP', 'kFLOP', 'MFLOP', 'GFLOP', 'TFLOP', 'PFLOP', 'EFLOP', 'ZFLOP']);
const microseconds = (value) =>
  Math.abs(value) >= 3.6e9 ? `${digits(value / 3.6e9)} h` :
  Math.abs(value) < 1e-3 ? `${digits(value)} us` : scaled(value, 1000, ['us', 'ms', 's']);
const percent = (value) =>
  value > 0 && value < 0.005 ? '<1%' : `${digits(value * 100, 3)}%`;
const dollars = (value) =>
  `$${value.toLocaleString('en', {minimumFractionDigits: 2,
                                  maximumFractionDigits: Math.abs(value) < 0.1 ? 5 : 2})}`;

const byUnit = [
  [/(^|_)usd(_|$)/, dollars],
  [/bytes_per_s$/, (value) => `${bytes(value)}/s`],
  [/flops_per_s$/, (value) => `${flops(value)}/s`],
  [/(share|share_within_limits|fraction|utilization|attainment|gap|gain_over_equal_counts)$/, percent],
  [/joules/, (value) => `${digits(value)} J`],
  [/_w$/, (value) => `${digits(value)} W`],
  [/bytes/, bytes],
  [/flops/, flops],
  [/_us(\.|$)/, microseconds],
];

// The unit in which an axis up to `most` bytes has round ticks.
function byteAxis(most) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(most) / 10)));
  return {label: units[unit], transform: (value) => value / 1024 ** unit};
}

// What a number of the report is written as, by its path: the unit ends a name,
// or that of a part around it ("ttft_us.p50", "flops.total").
function formatOf(path) {
  const names = path.replaceAll(/\[\d+\]/g, '').split('.').reverse();
  for (const name of names)
    for (const [pattern, format] of byUnit)
      if (pattern.test(name)) return format;
  return (value) => Number.isInteger(value) ? whole(value) : digits(value);
}
