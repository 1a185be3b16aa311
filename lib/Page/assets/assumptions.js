// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What nobody chose, who says so, and what each figure matters.

function impactChart(book) {
  const rows = (book.report.impact ?? [])
    .map((one) => ({figure: one.figure, change: one.one_percent_more.step_time_us}))
    .filter((row) => Math.abs(row.change) > 0);
  if (rows.length === 0) return null;
  const shown = rows.slice(0, 16);
  const shorter = (name) => name.split('.').slice(-3).join('.');
  return chart('Effect of 1% more of a figure on the time of the step', (width) => ({
    height: 60 + 22 * shown.length, marginLeft: Math.min(300, width * 0.42),
    x: {label: 'change', tickFormat: microseconds, grid: true, ticks: 5},
    y: {label: null, domain: shown.map((row) => row.figure), tickFormat: shorter},
    marks: [Plot.barX(shown, {x: 'change', y: 'figure',
                              fill: (row) => row.change < 0 ? palette[2] : palette[1],
                              tip: {format: {x: microseconds}}}),
            Plot.ruleX([0])],
  }));
}

function figureTable(book) {
  const rows = book.report.impact ?? [];
  if (rows.length === 0) return null;
  return table('Figures behind the report, those with most effect first',
               ['figure', numeric('value'), numeric('step'), 'source'],
               rows.map((one, i) => [
                 one.figure,
                 book.button(one.figure, exact(one.value)),
                 book.compute(`impact[${i}].step`,
                              'slope of the step time, 1% of the figure', [one.figure],
                              one.one_percent_more.step_time_us, microseconds),
                 el('span', {class: 'text'}, one.source)]));
}

function assumptionCsv(report) {
  return csv([
    ['kind', 'name', 'value', 'source', 'step_time_us of 1% more'],
    ...report.assumptions.map((one) => ['assumption', one.name, one.value, one.source, '']),
    ...(report.impact ?? []).map((one) => [
      'figure', one.figure, one.value, one.source, one.one_percent_more.step_time_us]),
  ]);
}

function assumptionSection(book) {
  const {report} = book;
  const save = (name, type, text) => () => download(`${report.model.name}-${name}`, type, text());
  return section('Assumptions',
                 el('p', {class: 'actions'},
                    el('button', {type: 'button',
                                  onclick: save('assumptions.csv', 'text/csv',
                                                () => assumptionCsv(report))}, 'Save as CSV'),
                    el('button', {type: 'button',
                                  onclick: save('report.json', 'application/json',
                                                () => JSON.stringify(report, null, 2))},
                       'Save the report as JSON')),
                 table('Assumptions', ['name', 'value', 'source'],
                       report.assumptions.map((one) => [
                         one.name, el('span', {class: 'text'}, one.value),
                         el('span', {class: 'text'}, one.source)])),
                 impactChart(book), figureTable(book));
}
