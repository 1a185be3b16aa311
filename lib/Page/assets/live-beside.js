// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands beside the report of a step: the other phase of the same plan, and
// how the plan carries from few sequences to many.

const otherPhases = {decode: 'prefill', prefill: 'decode'};

class Beside {
  constructor(question) {
    this.question = question;
    this.phase = new Latest('/estimate');
    this.batches = new Latest('/sweep');
    this.ofPhase = el('div', {});
    this.ofBatches = el('div', {});
    this.element = el('div', {}, this.ofBatches, this.ofPhase);
  }

  follow(book) {
    this.showPhase(book);
    this.showBatches();
  }

  // Of steps alone, not of services or training.
  isOfSteps() {
    const {phase, rate, concurrency} = this.question.value.flags;
    return phase in otherPhases && !rate && !concurrency && !this.question.value.module;
  }

  async fill(place, latest, body, show) {
    if (!this.isOfSteps()) return place.replaceChildren();
    const given = await latest.ask(body).catch(() => null);
    if (given) place.replaceChildren(show(given));
  }

  showPhase(book) {
    const {phase} = this.question.value.flags;
    const other = otherPhases[phase];
    const body = this.question.body();
    return this.fill(this.ofPhase, this.phase, {...body, flags: {...body.flags, phase: other}},
                     ({report}) => phasesSection(book, report));
  }

  showBatches() {
    const body = this.question.body();
    const batch = '1|2|4|8|16|32|64|128|256|512';
    return this.fill(this.ofBatches, this.batches, {...body, flags: {...body.flags, batch}},
                     (sweep) => section('From few sequences to many', sweepChart(sweep, 'batch')));
  }
}
