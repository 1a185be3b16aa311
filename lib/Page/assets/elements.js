// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements, made of text that stays text.

// Attributes called on... are listeners; false and null are left out.
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

// A table under its head, whose columns are {title, numeric} or a title; `rows`
// are lists of cells, each text or an element.
function table(caption, columns, rows) {
  const isNumeric = (column) => column.numeric ?? false;
  const head = columns.map((column) =>
    el('th', {scope: 'col', class: isNumeric(column) && 'numeric'},
       column.title ?? column));
  const body = rows.map((cells) =>
    el('tr', {}, cells.map((cell, i) =>
      i === 0 ? el('th', {scope: 'row'}, cell)
              : el('td', {class: isNumeric(columns[i]) && 'numeric'}, cell))));
  return el('div', {class: 'wide', tabindex: 0, role: 'region',
                    'aria-label': caption},
            el('table', {}, el('caption', {}, caption),
               el('thead', {}, el('tr', {}, head)), el('tbody', {}, body)));
}

const numeric = (title) => ({title, numeric: true});

// A part of the page that its contents list; nothing where it has no content.
function section(title, ...content) {
  const children = content.flat(Infinity).filter((child) => child != null && child !== false);
  if (children.length === 0) return null;
  const id = title.toLowerCase().replace(/[^a-z]+/g, '-');
  return el('section', {id, 'aria-labelledby': `${id}-title`},
            el('h2', {id: `${id}-title`}, title), children);
}

// Gives `text` to the browser as a file.
function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], {type}));
  el('a', {href: address, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

function csv(rows) {
  const cell = (value) => {
    // A sheet would run what begins like a formula.
    let text = String(value ?? '');
    if (typeof value !== 'number' && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(',') + '\n').join('');
}
