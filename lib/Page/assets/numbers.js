// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A report and how its numbers came about. Each number of a page is a button
// that opens its derivation.

class Book {
  // `report` is autopar.report/1; `name` tells it from others on the page.
  constructor(report, name = '') {
    this.report = report;
    this.name = name;
    this.derivations = report.derivations ?? {};
    this.figures = new Map((report.impact ?? []).map((one) => [one.figure, one]));
    this.computed = new Map();
    this.records = this.findRecords();
  }

  // Where the report tells of a record of the program: "kernels/decoder/q".
  findRecords() {
    const records = new Map();
    (this.report.breakdown?.by_kernel ?? []).forEach((kernel, i) =>
      records.set(`kernels/${kernel.name}`, `breakdown.by_kernel[${i}].time_us`));
    (this.report.communication?.collectives ?? []).forEach((row, i) => {
      for (const name of row.name.split(', '))
        records.set(`collectives/${name}`, `communication.collectives[${i}].time_us`);
    });
    return records;
  }

  // The number that an input of a derivation, `name`, leads to; nothing where
  // it leads to none.
  pathOf(name) {
    const known = this.derivationOf(name) || typeof this.valueOf(name) === 'number';
    return known ? name : this.records.get(name);
  }

  // What `path` names: "memory.per_stage[0].total_bytes".
  get(path) {
    return path.match(/[^.[\]]+/g).reduce((part, key) => part?.[key], this.report);
  }

  valueOf(path) {
    return this.computed.get(path)?.value ?? this.figures.get(path)?.value ?? this.get(path);
  }

  formatOf(path) {
    return this.computed.get(path)?.format ?? formatOf(path);
  }

  // {formula, inputs, sources, terms, note}; nothing where there is none.
  derivationOf(path) {
    return this.computed.get(path) ?? this.derivations[path];
  }

  // A button of the number at `path`; a dash where there is none.
  number(path, format = formatOf(path)) {
    const value = this.get(path);
    return typeof value === 'number' ? this.button(path, format(value)) : '-';
  }

  // A number of the page alone: `value` by `formula` of the numbers at `paths`.
  compute(path, formula, paths, value, format = formatOf(path)) {
    if (!Number.isFinite(value)) return '-';
    const inputs = Object.fromEntries(paths.map((one) => [one, this.valueOf(one)]));
    this.computed.set(path, {value, formula, inputs, sources: [], format});
    return this.button(path, format(value));
  }

  // What the number at `part` is of the one at `all`.
  share(part, all) {
    const name = (path) => path.match(/[^.]+$/)[0];
    return this.compute(`${part} of ${all}`, `${name(part)} / ${name(all)}`,
                        [part, all], this.get(part) / this.get(all), percent);
  }

  button(path, text) {
    return el('button', {type: 'button', class: 'number', 'data-path': path,
                         'data-book': this.name,
                         onclick: () => openDerivation(this, path)}, text);
  }
}
