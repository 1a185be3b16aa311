// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The panel that says how a number came about.

const panel = {dialog: null, trail: []};

function openDerivation(book, path) {
  panel.trail = [{book, path}];
  showDerivation();
}

function follow(book, path) {
  panel.trail.push({book, path});
  showDerivation();
}

function goBack() {
  panel.trail.pop();
  showDerivation();
}

// All digits.
const exact = (value) => value.toLocaleString('en', {maximumFractionDigits: 20});

// An input is a number of the report, a figure, or a record of the program.
function inputRow(book, name, value, term) {
  const path = book.pathOf(name);
  const label = path
    ? el('button', {type: 'button', class: 'link', onclick: () => follow(book, path)}, name)
    : name;
  return [label, typeof value === 'number' ? exact(value) : String(value), term ?? ''];
}

function impactRows(figure) {
  const change = figure.one_percent_more;
  return [
    ['time of the step', microseconds(change.step_time_us)],
    ['memory of a device', bytes(change.total_bytes)],
    ['tokens in the KV cache', digits(change.kv_capacity_tokens)],
  ];
}

function figureContent(figure) {
  return [
    el('p', {}, 'From ', el('q', {}, figure.source)),
    table('What 1% more of it does', ['', numeric('changes by')], impactRows(figure)),
  ];
}

function derivationContent(book, derivation) {
  const terms = derivation.terms ?? {};
  const inputs = Object.entries(derivation.inputs);
  const others = Object.entries(terms).filter(([name]) => !(name in derivation.inputs));
  return [
    el('p', {class: 'formula'}, `= ${derivation.formula}`),
    derivation.note && el('p', {}, derivation.note),
    inputs.length > 0 &&
      table('Inputs', ['input', numeric('value'), 'how'],
            inputs.map(([name, value]) => inputRow(book, name, value, terms[name]))),
    others.length > 0 &&
      table('Rests on', ['figure', 'value', ''],
            others.map(([name, text]) => inputRow(book, name, text))),
    derivation.sources.length > 0 &&
      el('ul', {class: 'sources'}, derivation.sources.map((source) => el('li', {}, source))),
  ].filter(Boolean);
}

function contentOf(book, path) {
  const derivation = book.derivationOf(path);
  if (derivation) return derivationContent(book, derivation);
  const figure = book.figures.get(path);
  if (figure) return figureContent(figure);
  return [el('p', {}, 'Given: by the plan, the model or the machine.')];
}

function showDerivation() {
  const {book, path} = panel.trail[panel.trail.length - 1];
  const value = book.valueOf(path);
  panel.dialog ??= document.body.appendChild(el('dialog', {'aria-labelledby': 'derived'}));
  const head = el('header', {},
    el('h2', {id: 'derived'}, path),
    panel.trail.length > 1 &&
      el('button', {type: 'button', onclick: goBack}, 'Back'),
    el('button', {type: 'button', class: 'close', onclick: () => panel.dialog.close()}, 'Close'));
  const shown = typeof value === 'number'
    ? el('p', {class: 'value', 'data-value': value},
         book.formatOf(path)(value), el('span', {class: 'quiet'}, ` (${exact(value)})`))
    : null;
  panel.dialog.replaceChildren(head, ...[shown, ...contentOf(book, path)].filter(Boolean));
  if (!panel.dialog.open) panel.dialog.showModal();
  panel.dialog.scrollTop = 0;
}
