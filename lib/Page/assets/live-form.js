// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be chosen: fields of the question.

const phases = ['decode', 'prefill', 'train'];

// A field that keeps up with the question when that changes elsewhere.
class Field {
  constructor(label, input, read, write) {
    this.element = el('label', {class: 'field'}, el('span', {}, label), input);
    this.input = input;
    this.read = read;
    input.addEventListener('change', () => write(input));
  }

  follow(question) {
    const value = this.read(question) ?? '';
    if (this.input.type === 'checkbox') this.input.checked = Boolean(value);
    else if (document.activeElement !== this.input) this.input.value = value;
  }
}

function choice(label, values, read, write) {
  const names = values.map((value) => (typeof value === 'string' ? [value, value || 'as it is'] : value));
  return new Field(label, el('select', {}, names.map(([value, name]) => el('option', {value}, name))),
                   read, (input) => write(input.value));
}

function flagChoice(question, label, flag, values) {
  return choice(label, values, (own) => own.value.flags[flag],
                (value) => question.setFlag(flag, value));
}

function flagNumber(question, label, flag, hint) {
  const input = el('input', {inputmode: 'numeric', autocomplete: 'off', placeholder: hint, size: 8});
  return new Field(label, input, (own) => own.value.flags[flag],
                   () => question.setFlag(flag, input.value.trim()));
}

function flagSwitch(question, label, flag) {
  return new Field(label, el('input', {type: 'checkbox'}), (own) => own.value.flags[flag],
                   (input) => question.setFlag(flag, input.checked));
}

// The model's own format of weights stands behind a colon.
function modelFields(question, models, formats) {
  const [name, format] = [0, 1].map((part) => (own) => (own.value.model ?? '').split(':')[part]);
  const set = (model, weights) =>
    question.set({model: weights ? `${model}:${weights}` : model, flags: question.value.flags});
  return [
    choice('Model', models, name, (value) => set(value, '')),
    choice('Weights', ['', ...formats], format, (value) => set(name(question), value)),
  ];
}

// `offered`: names of what the server has.
function fieldGroups(question, offered) {
  const number = (...all) => flagNumber(question, ...all);
  return {
    'Model and machine': [
      ...modelFields(question, offered.models, offered.weights),
      flagChoice(question, 'Machine', 'hardware', offered.systems), number('Nodes', 'nodes', '1'),
      flagChoice(question, 'Runtime', 'runtime', ['', ...offered.runtimes]),
    ],
    'What to run': [
      flagChoice(question, 'Phase', 'phase', phases), number('Sequences', 'batch', '1'),
      number('Context', 'context', '2048'),
      flagChoice(question, 'KV cache', 'kv-format', ['', ...offered.caches]),
      number('Requests/s', 'rate', 'a step alone'), number('Prompt', 'prompt', 'tokens'),
      number('Output', 'output-tokens', 'tokens'),
    ],
    'How to split it': [
      number('Tensor (tp)', 'shard-tp', '1'), flagSwitch(question, 'Sequence (sp)', 'shard-sp'),
      number('Attention of tp', 'shard-attention-tp', 'tp'), number('Data (dp)', 'shard-dp', '1'),
      flagSwitch(question, 'FSDP', 'fsdp'), number('Experts (ep)', 'shard-ep', '1'),
      number('Widths of experts (etp)', 'shard-etp', '1'), number('Context (cp)', 'shard-cp', '1'),
      number('KV tokens (dcp)', 'shard-dcp', '1'), number('Stages (pp)', 'stage-pp', '1'),
      number('Microbatches', 'microbatches', 'as many as fit'),
    ],
  };
}

// A slider for what a figure is, against what its file says.
function figureSlider(question, figure, given) {
  const now = question.figures().get(figure.figure) ?? given;
  const shown = el('output', {}, `${percent(now / given)}`);
  const slider = el('input', {type: 'range', min: 25, max: 200, step: 1,
                              value: Math.round(now / given * 100), 'aria-label': figure.figure});
  const set = (isSettled) => {
    const share = slider.valueAsNumber / 100;
    shown.value = percent(share);
    question.setFigure(figure.figure, share === 1 ? null : given * share, isSettled);
  };
  slider.addEventListener('input', () => set(false));
  slider.addEventListener('change', () => set(true));
  return el('label', {class: 'slider'},
            el('span', {}, figure.figure.split('.').slice(1).join('.')), slider, shown);
}

// Sliders of the figures that matter most. They stay where they are while one
// is moved, whatever matters most then.
class FigureSliders {
  constructor(question) {
    this.question = question;
    this.element = el('div', {class: 'sliders'});
    this.given = new Map();
    this.shown = '';
  }

  follow(report) {
    const figures = (report.impact ?? []).slice(0, 8);
    const own = this.question.figures();
    for (const one of figures)
      if (!own.has(one.figure)) this.given.set(one.figure, one.value);
    const moved = this.element.contains(document.activeElement);
    const names = figures.map((one) => one.figure).join();
    if (moved || names === this.shown) return;
    this.shown = names;
    this.element.replaceChildren(...figures
      .filter((one) => this.given.has(one.figure))
      .map((one) => figureSlider(this.question, one, this.given.get(one.figure))));
  }
}
