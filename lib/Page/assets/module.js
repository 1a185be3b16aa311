// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The IR, with what its types say.

// What "tensor<?x64xbf16, #parallel.sharding<[batch, _ by tp] partial [tp]>>"
// says: "batch x 64 split over tp, bf16; to be summed over tp".
function explainType(definition) {
  const parts = definition.match(/<([^,<>]*)(?:,\s*#\w+\.\w+<\[([^\]]*)\](?:\s*partial\s*\[([^\]]*)\])?)?/);
  if (!parts) return definition;
  const shape = parts[1].split('x');
  const format = shape.pop();
  const names = parts[2] ? parts[2].split(/,\s*/) : [];
  const dims = shape.map((extent, i) => {
    const [symbol, split] = (names[i] ?? '_').split(' by ');
    const size = symbol === '_' ? extent : symbol;
    if (!split) return size;
    const [axes, ...rule] = split.split(' ');
    return `${size} split over ${axes}${rule.length ? ` (${rule.join(' ')})` : ''}`;
  });
  const what = /cache</.test(definition) ? 'cache of ' : '';
  const sum = parts[3] ? `; still to be summed over ${parts[3]}` : '';
  return `${what}${dims.join(' x ')}${dims.length ? ', ' : ''}${format}${sum}`;
}

function typesOf(text) {
  const types = new Map();
  for (const [, name, definition] of text.matchAll(/^(![\w$.-]+) = (.*)$/gm))
    types.set(name, definition);
  return types;
}

// Names of types say what they are when pointed at.
function codeOf(text, types) {
  const code = el('code', {});
  let from = 0;
  for (const match of text.matchAll(/![\w$.-]+/g)) {
    const definition = types.get(match[0]);
    if (!definition) continue;
    code.append(text.slice(from, match.index),
                el('span', {class: 'type', title: explainType(definition)}, match[0]));
    from = match.index + match[0].length;
  }
  code.append(text.slice(from));
  return code;
}

function moduleSection(text) {
  if (!text) return null;
  const types = typesOf(text);
  const body = text.replace(/^(![\w$.-]+ = .*\n)+/m, '');
  const list = el('dl', {}, [...types].map(([name, definition]) => [
    el('dt', {}, el('code', {}, name)), el('dd', {}, explainType(definition))]));
  return section('Program',
    el('p', {class: 'quiet'}, 'The split program that all numbers are read off. Point at a type ' +
                              'for what it says.'),
    types.size > 0 && el('details', {class: 'text'}, el('summary', {}, 'Types'), list),
    el('details', {}, el('summary', {}, 'Operations'),
       el('pre', {tabindex: 0, 'aria-label': 'The program'}, codeOf(body, types))),
    el('p', {class: 'actions'},
       el('button', {type: 'button', onclick: () => download('model.mlir', 'text/plain', text)},
          'Save the program')));
}
