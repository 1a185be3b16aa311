// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The answer: does it fit, how fast is it, what holds it back.

function card(title, value, ...about) {
  return el('div', {class: 'card'}, el('h3', {}, title), el('p', {class: 'big'}, value),
            about.length > 0 && el('p', {class: 'quiet'}, about));
}

function fitCard(book) {
  const device = 'memory.per_device.';
  const fits = book.get(`${device}fits`);
  return card('Fits', fits ? 'yes' : el('strong', {class: 'bad'}, 'no'),
              book.number(`${device}total_bytes`), ' of a budget of ',
              book.number(`${device}budget_bytes`), ' per device');
}

function timeCard(book) {
  const {bound} = book.report.latency;
  return card(book.report.training ? 'Iteration' : 'Step time',
              book.number('latency.step_time_us'), `bound by ${bound}, `,
              book.share(`latency.${bound}_time_us`, 'latency.step_time_us'), ' of it');
}

function rateCard(book) {
  const {phase} = book.report.workload;
  const what = phase === 'decode' ? 'output tokens/s' : 'tokens/s';
  const perDevice = book.compute(
    'throughput per device', 'tokens_per_s / devices',
    ['throughput.tokens_per_s', 'mesh.devices'],
    book.get('throughput.tokens_per_s') / book.get('mesh.devices'), digits);
  return card('Throughput', [book.number('throughput.tokens_per_s'), ` ${what}`],
              perDevice, ' per device');
}

function costCard(book) {
  if (book.get('cost.usd_per_million_tokens') == null) return null;
  return card('Price', [book.number('cost.usd_per_million_tokens'), ' / M tokens'],
              'at ', book.number('cost.usd_per_device_hour'), ' per device-hour');
}

function capacityCard(book) {
  if (book.report.training) {
    return card('MFU', book.number('training.model_flops_utilization'),
                'with recomputation (HFU) ',
                book.number('training.hardware_flops_utilization'));
  }
  return card('Capacity', [book.number('capacity.sequences'), ' sequences'], 'at context ',
              book.number('workload.context_length'), ', ', book.number('capacity.tokens'),
              ' tokens');
}

function serviceCards(book) {
  const {serving} = book.report;
  if (!serving || typeof serving.requests_per_s !== 'number') return [];
  return [
    card('Serves', [book.number('serving.requests_per_s'), ' requests/s'],
         'saturates at ', book.number('serving.saturates_at_per_s'), ' requests/s'),
    card('Time to first token', book.number('serving.ttft_us.mean'), 'p99 ',
         book.number('serving.ttft_us.p99')),
    card('Time per output token', book.number('serving.tpot_us.mean'), 'p99 ',
         book.number('serving.tpot_us.p99')),
  ];
}

// "decode of 8 sequences at context 4,096"
function questionLine(book) {
  const {phase} = book.report.workload;
  const verb = phase === 'train' ? 'training' : phase;
  const tokens = phase === 'decode'
    ? ['at context ', book.number('workload.context_length')]
    : ['of ', book.number('workload.query_length'), ' tokens'];
  return el('p', {}, `${verb}: `, book.number('workload.batch'), ' sequences ', tokens, ', on ',
            book.number('mesh.devices'), ' of ', book.number('machine.devices'), ' devices of ',
            el('strong', {}, book.report.machine.title), `, runtime ${book.report.machine.runtime}`);
}

function planLine(book) {
  const axes = book.report.mesh.axes;
  if (axes.length === 0) return el('p', {}, 'on one device');
  return el('p', {class: 'plan'}, axes.map((axis, i) => [
    el('span', {class: 'axis'}, `${axis.name} `, book.number(`mesh.axes[${i}].size`)), ' ']));
}

function warningList(book) {
  const {warnings} = book.report;
  if (warnings.length === 0) return null;
  return el('ul', {class: 'warnings', 'aria-label': 'Warnings'},
            warnings.map((text) => el('li', {class: 'text'}, text)));
}

function answer(book) {
  return el('header', {class: 'answer'},
            el('h1', {class: 'text'}, book.report.model.name),
            questionLine(book), planLine(book),
            el('div', {class: 'cards'}, fitCard(book), timeCard(book), rateCard(book),
               costCard(book) ?? '', capacityCard(book), serviceCards(book)),
            warningList(book) ?? '');
}
