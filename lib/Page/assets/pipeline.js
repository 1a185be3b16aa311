// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each stage does when, and what stages hand to each other.

function timelineChart(timeline) {
  const tasks = timeline.tasks.map(([device, from, to, kind, microbatch, stage]) => ({
    device: `stage ${device}`, from, to, kind, microbatch, stage}));
  const devices = [...new Set(tasks.map((task) => task.device))];
  devices.sort((a, b) => a.localeCompare(b, 'en', {numeric: true}));
  const cut = tasks.length < timeline.of
    ? `: what begins first, ${tasks.length} of ${timeline.of} tasks` : '';
  return chart(`Timeline of a step${cut}`, () => ({
    height: 90 + 20 * devices.length, marginLeft: 70,
    x: {label: 'time', tickFormat: microseconds, grid: true, ticks: 6},
    y: {label: null, domain: devices},
    color: {...colorsOf([...new Set(tasks.map((task) => task.kind))]), legend: true},
    marks: [Plot.barX(tasks, {
      x1: 'from', x2: 'to', y: 'device', fill: 'kind', stroke: 'var(--ground)',
      strokeWidth: 0.5, channels: {microbatch: 'microbatch', part: 'stage'},
      tip: {format: {x1: microseconds, x2: microseconds}}})],
  }));
}

function stageTable(book) {
  const ranges = (stage) => stage.layers.map(([from, to]) => `${from} to ${to}`).join('; ');
  const keys = ['time_us', 'busy_time_us', 'idle_time_us', 'memory_bytes', 'peak_in_flight'];
  return table('Stages',
               ['stage', 'layers', numeric('per microbatch'), numeric('busy'), numeric('idle'),
                numeric('memory'), numeric('microbatches in flight')],
               book.report.schedule.per_stage.map((stage, i) => [
                 `${i}`, el('span', {class: 'text'}, ranges(stage)),
                 ...keys.map((key) => book.number(`schedule.per_stage[${i}].${key}`))]));
}

function transferTable(book) {
  const rows = book.report.schedule.transfers;
  if (rows.length === 0) return null;
  return table('Transfers between stages', ['from', 'to', 'over', numeric('bytes'), numeric('time')],
               rows.map((row, i) => [
                 `${row.from}`, el('span', {class: 'text'}, `${row.to}`), row.tier ?? 'one device',
                 book.number(`schedule.transfers[${i}].bytes`),
                 book.number(`schedule.transfers[${i}].time_us`)]));
}

function pipelineSection(book, timeline) {
  const {schedule} = book.report;
  if (!schedule || schedule.per_stage.length < 2) return null;
  return section('Pipeline',
                 el('p', {}, `schedule ${schedule.kind}: `, book.number('schedule.microbatches'),
                    ' microbatches, ', book.number('schedule.interleave'),
                    ' virtual stages on a device; devices idle ',
                    book.number('schedule.bubble_fraction'), ' of ',
                    book.number('schedule.makespan_time_us')),
                 timeline && timelineChart(timeline), stageTable(book), transferTable(book));
}
