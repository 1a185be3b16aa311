// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the live page asks: a model and flags. All of it is in the address, so
// that an address is a question; going back is undoing.

const firstQuestion = {
  model: 'llama-3.3-70b',
  flags: {hardware: 'h100-sxm-8', 'shard-tp': 8, phase: 'decode', batch: 8, context: 4096},
};

class Question {
  // `onChange(question, isSettled)` is told of each change.
  constructor(onChange) {
    this.onChange = onChange;
    this.value = Question.fromAddress() ?? structuredClone(firstQuestion);
    addEventListener('popstate', () => {
      this.value = Question.fromAddress() ?? structuredClone(firstQuestion);
      onChange(this, true);
    });
  }

  static fromAddress() {
    if (location.hash.length < 2) return null;
    try {
      const value = JSON.parse(decodeURIComponent(location.hash.slice(1)));
      return typeof value === 'object' && value !== null && typeof value.flags === 'object'
        ? value : null;
    } catch {
      return null;
    }
  }

  address() {
    return `#${encodeURIComponent(JSON.stringify(this.value))}`;
  }

  // Sets a flag; '', false and null take it away. While a slider moves, nothing
  // is settled, and so nothing to undo.
  setFlag(name, value, isSettled = true) {
    const flags = {...this.value.flags};
    if (value === '' || value === false || value == null) delete flags[name];
    else flags[name] = value;
    this.set({...this.value, flags}, isSettled);
  }

  // What figures are set to: {path: value}, of the flag "set".
  figures() {
    return new Map((this.value.flags.set ?? []).map((text) => {
      const [path, value] = text.split('=');
      return [path, Number(value)];
    }));
  }

  setFigure(path, value, isSettled) {
    const figures = this.figures();
    if (value == null) figures.delete(path);
    else figures.set(path, value);
    const texts = [...figures].map(([name, own]) => `${name}=${own}`);
    this.setFlag('set', texts.length ? texts : null, isSettled);
  }

  set(value, isSettled = true) {
    this.value = value;
    if (isSettled && this.address() !== location.hash) history.pushState(null, '', this.address());
    this.onChange(this, isSettled);
  }

  // The body of a request for an estimate.
  body() {
    const {model, config, module, flags} = this.value;
    return {...(module ? {module} : config ? {config} : {model}), flags};
  }

  // The same on the command line.
  command() {
    const flags = Object.entries(this.value.flags).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((one) =>
        one === true ? `--${name}` : `--${name}=${one}`));
    const {model, config, module} = this.value;
    const name = module ? 'model.mlir' : config ? 'config.json' : model;
    return ['autopar estimate', name, ...flags].join(' ');
  }
}
