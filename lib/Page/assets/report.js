// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A report, section by section.

function contents(sections) {
  return el('nav', {'aria-label': 'Contents'}, sections.map((one) =>
    el('a', {href: `#${one.id}`}, one.querySelector('h2').textContent)));
}

function sectionsOf(book, data) {
  return [
    memorySection(book), timeSection(book), trainingSection(book), serviceSection(book),
    layerSection(book), phasesSection(book, data.beside), rooflineSection(book), pipelineSection(book, data.timeline),
    placementSection(book), communicationSection(book), assumptionSection(book),
    moduleSection(data.module),
  ].filter(Boolean);
}

function reportView(data, name = '') {
  const book = new Book(data.report, name);
  const sections = sectionsOf(book, data);
  return [answer(book), contents(sections), ...sections];
}

// Modules of a deployment, one at a time, and what moves between them.
function linkTable(deployment) {
  if (deployment.links.length === 0) return null;
  return table('What a request moves', ['from', 'to', 'over', 'KV cache', 'time'],
               deployment.links.map((link) => [
                 link.from, link.to, link.tier,
                 el('span', {class: 'text'}, bytes(link.kv_bytes_per_request)),
                 el('span', {class: 'text'}, microseconds(link.time_us))]));
}

function deploymentView(data) {
  const {deployment} = data;
  const place = el('div', {});
  const show = (i) => {
    const {name, report} = deployment.modules[i];
    place.replaceChildren(...reportView({report}, name));
  };
  const choice = el('select', {onchange: () => show(choice.selectedIndex)},
                    deployment.modules.map(({name}) => el('option', {}, name)));
  show(0);
  return [el('p', {class: 'actions'}, el('label', {}, 'Module ', choice)),
          linkTable(deployment) ?? '', place, moduleSection(data.module) ?? ''];
}
