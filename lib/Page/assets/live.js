// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The live page: the question on one side, its report on the other.

// How long the question must stand still before all of its report is drawn.
const stillMs = 200;

class LivePage {
  constructor(offered) {
    this.question = new Question((question, isSettled) => this.follow(isSettled));
    this.estimates = new Latest('/estimate');
    this.pins = new Pins(this.question);
    this.beside = new Beside(this.question);
    this.sliders = new FigureSliders(this.question);
    this.groups = fieldGroups(this.question, offered);
    this.fields = Object.values(this.groups).flat();
    this.message = el('div', {role: 'alert'});
    this.status = el('span', {role: 'status', class: 'quiet'});
    this.head = el('div', {});
    this.rest = el('div', {});
    this.command = el('code', {});
    this.report = null;
  }

  controls() {
    const form = el('form', {class: 'question', 'aria-label': 'Question',
                             onsubmit: (event) => event.preventDefault()},
      Object.entries(this.groups).map(([title, fields]) =>
        el('fieldset', {}, el('legend', {}, title), fields.map((field) => field.element))),
      el('fieldset', {}, el('legend', {}, 'What if a figure were'), this.sliders.element),
      ownModel(this.question));
    return form;
  }

  actions() {
    const button = (text, act, hint) =>
      el('button', {type: 'button', onclick: act, title: hint}, text);
    return el('p', {class: 'actions'},
      button('Undo', () => history.back()), ' ', button('Redo', () => history.forward()), ' ',
      button('Pin this run', () => this.report && this.pins.add(this.report)), ' ',
      button('Copy the command', () => navigator.clipboard?.writeText(this.question.command())), ' ',
      this.status);
  }

  show(main) {
    const studies = [
      sweepStudy(this.question),
      searchStudy(this.question, 'Search', 'Find the best plan', 'throughput'),
      searchStudy(this.question, 'Fewest devices', 'Find the fewest devices', 'devices'),
    ].map((study) => study.element);
    main.classList.add('live');
    main.replaceChildren(this.controls(), el('div', {class: 'shown'}, this.actions(),
      el('p', {class: 'command'}, this.command), this.message, this.head, this.pins.element,
      this.beside.element, ...studies, this.rest));
    this.follow(true);
  }

  async follow(isSettled) {
    for (const field of this.fields) field.follow(this.question);
    this.command.textContent = this.question.command();
    clearTimeout(this.still);
    const begun = performance.now();
    try {
      const answer = await this.estimates.ask(
        {...this.question.body(), explain: true, impact: true, ir: true});
      if (!answer) return;
      this.take(answer, performance.now() - begun);
      this.still = setTimeout(() => this.showRest(answer), isSettled ? 0 : stillMs);
    } catch (error) {
      this.refuse(error);
    }
  }

  take({report}, answerMs) {
    this.report = report;
    this.message.replaceChildren();
    this.book = new Book(report);
    this.head.replaceChildren(answer(this.book), memoryChart(this.book), timeChart(this.book));
    this.sliders.follow(report);
    this.status.textContent = `answered in ${digits(answerMs, 2)} ms`;
  }

  showRest({report, ir}) {
    const sections = sectionsOf(this.book, {report, module: ir});
    this.rest.replaceChildren(contents(sections), ...sections, editedProgram(this.question, ir));
    this.beside.follow(this.book);
  }

  refuse(error) {
    const notes = (error.errors ?? []).map((one) => {
      const where = one.pointer && one.pointer !== '/flags' ? `${one.pointer}: ` : '';
      const what = one.detail === error.message ? '' : one.detail;
      return [where + what, one.note].filter(Boolean).join('; ');
    }).filter(Boolean).map((text) => el('li', {}, text));
    this.message.replaceChildren(
      el('div', {class: 'refusal'}, el('p', {}, el('strong', {}, 'Refused: '), error.message),
         notes.length ? el('ul', {}, notes) : ''));
  }
}

// A config of one's own in place of a bundled model.
function ownModel(question) {
  const text = el('textarea', {rows: 6, 'aria-label': 'config.json', spellcheck: 'false'});
  const said = el('p', {role: 'status', class: 'bad'});
  const take = () => {
    try {
      question.set({config: JSON.parse(text.value), flags: question.value.flags});
      said.textContent = '';
    } catch (error) {
      said.textContent = error.message;
    }
  };
  return el('details', {}, el('summary', {}, 'A config.json of your own'), text,
            el('p', {class: 'actions'}, el('button', {type: 'button', onclick: take}, 'Take it')), said);
}

// The program, to be changed by hand: its numbers follow.
function editedProgram(question, ir) {
  const text = el('textarea', {rows: 24, class: 'program', 'aria-label': 'Program to change',
                               spellcheck: 'false'});
  const estimate = () => question.set({module: text.value, flags: {}});
  return section('Change the program', el('details', {ontoggle: () => { text.value ||= ir; }},
    el('summary', {}, 'Edit it and estimate it'), text,
    el('p', {class: 'actions'}, el('button', {type: 'button', onclick: estimate}, 'Estimate it'),
       ' The plan is then what the program says; choose a model to leave it.')));
}

async function liveView(main) {
  const [{models}, {systems}, {runtimes}, formats] = await Promise.all(
    ['/models', '/hardware', '/runtimes', '/formats'].map(get));
  const names = (all) => all.map((one) => one.id);
  new LivePage({models: names(models), systems: names(systems), runtimes: names(runtimes),
                weights: formats.weights, caches: formats.kv_cache}).show(main);
}
