// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What takes more than one estimate: pinned runs, sweeps, searches.

// Reports that are kept beside the one that is shown.
class Pins {
  constructor(question) {
    this.question = question;
    this.runs = [];
    this.element = el('div', {});
  }

  add(report) {
    this.runs.push({name: `${this.runs.length + 1}`, report, question: this.question.value});
    this.show();
  }

  // Each number beside that of the first run.
  row(books, i) {
    return comparedColumns(books).map(([, path]) => {
      const [first, own] = [books[0].get(path), books[i].get(path)];
      const delta = i > 0 && first > 0 && own !== first
        ? ` (${own > first ? '+' : ''}${digits((own / first - 1) * 100, 3)}%)` : '';
      return el('span', {}, books[i].number(path), delta);
    });
  }

  show() {
    if (this.runs.length === 0) return this.element.replaceChildren();
    const books = this.runs.map((run) => new Book(run.report, run.name));
    const columns = comparedColumns(books);
    const back = (run) => el('button', {type: 'button', onclick: () => this.question.set(run.question)},
                             `Run ${run.name}`);
    const remove = (run) => el('button', {type: 'button', 'aria-label': `Unpin run ${run.name}`, onclick: () => {
      this.runs = this.runs.filter((one) => one !== run);
      this.show();
    }}, 'Unpin');
    this.element.replaceChildren(section('Pinned runs',
      table('Against the first', ['', 'model', ...columns.map(([title]) => numeric(title)), ''],
            this.runs.map((run, i) => [back(run), run.report.model.name,
                                       ...this.row(books, i), remove(run)]))));
  }
}

// Rows of a sweep, with what they were asked.
const rowsOf = (sweep) => sweep.rows.map(({values, refusal, result}) => ({...result, ...values, refusal}));

function sweepChart(sweep, axis) {
  const rows = rowsOf(sweep).filter((row) => row.step_time_us > 0);
  if (rows.length < 2) return el('p', {}, 'No two of these are priced.');
  const numbers = rows.every((row) => Number.isFinite(Number(row[axis])));
  return chart(`Time of a step and throughput by ${axis}; crosses do not fit`, (width) => ({
    height: Math.min(420, Math.max(260, width * 0.4)), marginLeft: 70,
    x: {type: 'log', label: 'time of a step', tickFormat: microseconds, grid: true, ticks: 6},
    y: {label: 'tokens/s of a device', grid: true},
    symbol: {domain: [true, false], range: ['circle', 'times']},
    marks: [
      ...(numbers ? [Plot.line(rows, {x: 'step_time_us', y: 'tokens_per_s_per_device',
                                      stroke: palette[0], strokeOpacity: 0.5})] : []),
      Plot.dot(rows, {x: 'step_time_us', y: 'tokens_per_s_per_device', stroke: palette[0], r: 4,
                      symbol: 'fits', channels: {[axis]: axis},
                      tip: {format: {x: microseconds, y: digits, symbol: false}}}),
      Plot.text(rows, {x: 'step_time_us', y: 'tokens_per_s_per_device', text: (row) => `${row[axis]}`,
                       dy: -10}),
    ],
  }));
}

function sweepTable(sweep, axis) {
  return table(`By ${axis}`, [axis, 'fits', numeric('memory'), numeric('step'), numeric('tokens/s')],
               rowsOf(sweep).map((row) => [
                 `${row[axis]}`, row.refusal ? el('span', {class: 'text'}, row.refusal) : row.fits ? 'yes' : 'no',
                 ...[bytes(row.total_bytes ?? NaN), microseconds(row.step_time_us ?? NaN),
                     digits(row.tokens_per_s ?? NaN)]
                   .map((text) => el('span', {class: 'text'}, text.includes('NaN') ? '-' : text))]));
}

// A study that a button starts, says how far it is, and can be stopped.
class Study {
  constructor(title, button, run) {
    this.result = el('div', {});
    this.status = el('span', {role: 'status', class: 'quiet'});
    this.start = el('button', {type: 'button', onclick: () => this.go(run)}, button);
    this.stop = el('button', {type: 'button', hidden: true,
                              onclick: () => this.controller?.abort()}, 'Stop');
    this.element = section(title, el('p', {class: 'actions'}, this.start, ' ', this.stop, ' ', this.status),
                           this.result);
  }

  async go(run) {
    this.controller?.abort();
    const controller = this.controller = new AbortController();
    this.stop.hidden = false;
    this.status.textContent = 'working';
    const say = ({what, done, all}) => { this.status.textContent = `${done} of ${all} ${what}`; };
    try {
      const shown = await run(controller.signal, say);
      this.result.replaceChildren(...[shown].flat(Infinity));
      this.status.textContent = '';
    } catch (error) {
      this.status.textContent = error.name === 'AbortError' ? 'stopped' : error.message;
    }
    if (controller === this.controller) this.stop.hidden = true;
  }
}

// A search has no degrees: it finds them, on the question's devices or for its
// sequences.
function searchBody(question, goal) {
  const kept = ['hardware', 'runtime', 'phase', 'context', 'kv-format', 'set',
                goal === 'devices' ? 'batch' : 'nodes'];
  const flags = Object.fromEntries(Object.entries(question.value.flags)
    .filter(([name]) => kept.includes(name)));
  const devices = goal === 'devices' ? {devices: '1..64'} : {};
  return {...question.body(), flags: {...flags, goal, ...devices}};
}

function searchStudy(question, title, button, goal) {
  const use = (answer, i) => {
    const point = answer.frontier[i];
    question.set({...question.value, flags: {
      ...Object.fromEntries(Object.entries(question.value.flags)
        .filter(([name]) => !/^(shard-|stage-|fsdp|plan|nodes|batch|microbatches|mesh)/.test(name))),
      hardware: point.hardware, nodes: point.nodes, plan: point.label, batch: point.batch}});
  };
  return new Study(title, button, async (signal, say) => {
    const answer = await postForEvents('/search', searchBody(question, goal), signal, say);
    const shown = searchView({search: answer});
    const best = answer.best;
    return [best == null ? '' : el('p', {class: 'actions'}, el('button', {
      type: 'button', onclick: () => use(answer, best)},
      `Use ${answer.frontier[best].label} with ${answer.frontier[best].batch} sequences`)), ...shown];
  });
}

function sweepStudy(question) {
  const axis = el('select', {}, ['batch', 'context', 'prompt', 'hardware'].map((one) => el('option', {}, one)));
  const values = el('input', {value: '1|2|4|8|16|32|64|128|256', size: 30, 'aria-label': 'Values'});
  axis.addEventListener('change', () => {
    values.value = {batch: '1|2|4|8|16|32|64|128|256', context: '1k|4k|16k|64k|128k', prompt: '128|512|2k|8k',
                    hardware: 'h100-sxm-8|h200-sxm-8|b200-sxm-8'}[axis.value];
  });
  const study = new Study('Sweep', 'Sweep', async (signal) => {
    const flags = {...question.value.flags, [axis.value]: values.value};
    const sweep = await post('/sweep', {...question.body(), flags}, signal);
    return [sweepChart(sweep, axis.value), sweepTable(sweep, axis.value)];
  });
  study.start.before(el('label', {}, 'Over ', axis), ' ', el('label', {}, 'Values ', values), ' ');
  return study;
}
