// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nodes and devices: what each holds, and what goes between them.

const mostDevices = 1024;

class Placement {
  constructor(book) {
    const {mesh, machine, plan} = book.report;
    this.book = book;
    this.axes = mesh.axes;
    this.devices = mesh.devices;
    this.perNode = Math.max(1, Math.floor(machine.devices / machine.nodes));
    this.degrees = plan?.degrees ?? {};
  }

  coordinate(device, axis) {
    return Math.floor(device / axis.stride) % axis.size;
  }

  // Which of its group the device is, and of how many, over `names` of axes.
  rank(device, names) {
    let rank = 0, size = 1;
    for (const axis of this.axes.filter((one) => names.includes(one.name))) {
      rank = rank * axis.size + this.coordinate(device, axis);
      size *= axis.size;
    }
    return {rank, size};
  }

  axesOf(degree) {
    return this.degrees[degree] ?? (this.axes.some((axis) => axis.name === degree) ? [degree] : []);
  }

  // Whether both differ in nothing but their places on `names`.
  areJoined(a, b, names) {
    return this.axes.every((axis) => names.includes(axis.name) ||
                                     this.coordinate(a, axis) === this.coordinate(b, axis));
  }

  // Where devices are drawn: nodes side by side, devices of a node in a row.
  cells() {
    const nodes = Math.ceil(this.devices / this.perNode);
    const wide = Math.min(this.perNode, 16), high = Math.ceil(this.perNode / wide);
    const columns = Math.max(1, Math.round(Math.sqrt(2 * nodes * (high + 1) / (wide + 1))));
    return d3.range(this.devices).map((device) => {
      const node = Math.floor(device / this.perNode), local = device % this.perNode;
      return {device, node,
              x: (node % columns) * (wide + 0.6) + local % wide,
              y: Math.floor(node / columns) * (high + 0.8) + Math.floor(local / wide)};
    });
  }

  // What a device sends to each other one in a step, by collective group.
  linksOf(device) {
    const groups = new Map();
    for (const row of this.book.report.communication.collectives) {
      if (!row.axes.every((name) => this.axes.some((axis) => axis.name === name))) continue;
      const key = row.axes.join(', ');
      groups.set(key, (groups.get(key) ?? 0) + row.count * row.wire_bytes_per_device);
    }
    return [...groups].flatMap(([key, sent]) => {
      const names = key.split(', ');
      const peers = d3.range(this.devices)
        .filter((other) => other !== device && this.areJoined(device, other, names));
      return peers.map((other) => ({to: other, over: key, sent: sent / peers.length}));
    });
  }

  // Lines of text about what the device holds.
  holdings(device) {
    const {report} = this.book;
    const stages = report.schedule?.per_stage;
    const {rank: stage} = this.rank(device, this.axesOf('pp'));
    const lines = [`device ${device}, node ${Math.floor(device / this.perNode)}`];
    if (stages && stages.length > 1)
      lines.push(`stage ${stage}: layers ` +
                 (stages[stage]?.layers ?? []).map(([a, b]) => `${a} to ${b}`).join('; '));
    const shard = (degree, what) => {
      const {rank, size} = this.rank(device, this.axesOf(degree));
      if (size > 1) lines.push(`${what} ${rank + 1} of ${size}`);
    };
    shard('tp', 'heads, widths and vocabulary: part');
    shard('cp', 'tokens: part');
    shard('dp', 'sequences: part');
    const experts = report.mesh.experts_per_device;
    if (experts) {
      const {rank} = this.rank(device, this.axesOf('ep'));
      const last = (rank + 1) * experts - 1;
      lines.push(experts === 1 ? `routed expert ${last} of each layer`
                               : `routed experts ${rank * experts} to ${last} of each layer`);
    }
    const memory = report.memory.per_stage[stage] ?? report.memory.per_device;
    lines.push(`weights ${bytes(memory.weight_bytes)}, KV cache ${bytes(memory.kv_cache_bytes)}, ` +
               `${bytes(memory.total_bytes)} in all`);
    return lines;
  }
}

function placementMarks(placement, cells, axis, selected) {
  const at = (device) => cells[device];
  const links = placement.linksOf(selected).map((link) => ({
    ...link, x1: at(selected).x + 0.5, y1: at(selected).y + 0.5,
    x2: at(link.to).x + 0.5, y2: at(link.to).y + 0.5}));
  return {links, marks: [
    Plot.rect(cells, {x1: 'x', x2: (d) => d.x + 0.92, y1: 'y', y2: (d) => d.y + 0.92, rx: 2,
                      fill: (d) => palette[placement.coordinate(d.device, axis) % palette.length],
                      fillOpacity: 0.75, ariaLabel: 'devices',
                      stroke: (d) => d.device === selected ? 'currentColor' : 'none',
                      strokeWidth: 2}),
    Plot.arrow(links, {x1: 'x1', y1: 'y1', x2: 'x2', y2: 'y2', stroke: 'sent', strokeWidth: 1.5,
                       strokeOpacity: 0.85, bend: 12, headLength: 0, clip: true, pointerEvents: 'none'}),
    ...(cells.length <= 128
      ? [Plot.text(cells, {x: (d) => d.x + 0.46, y: (d) => d.y + 0.46, text: 'device',
                           pointerEvents: 'none', fontSize: 10})]
      : []),
  ]};
}

function placementFigure(placement, state, onSelect) {
  const cells = placement.cells();
  const height = d3.max(cells, (cell) => cell.y) + 1, width = d3.max(cells, (cell) => cell.x) + 1;
  const figure = chart('Devices by node; lines are what the chosen one exchanges in a step',
    (space) => {
      const axis = placement.axes.find((one) => one.name === state.axis);
      const {links, marks} = placementMarks(placement, cells, axis, state.device);
      const unit = Math.min(40, (space - 20) / width);
      return {
        width: unit * width + 32, aspectRatio: 1, margin: 16,
        x: {axis: null, domain: [0, width]}, y: {axis: null, domain: [height, 0]},
        color: links.length > 0
          ? {type: 'linear', domain: [0, d3.max(links, (link) => link.sent)], range: [0.25, 1],
             scheme: 'YlOrRd', legend: true, label: 'sent to a device in a step',
             tickFormat: bytes, ticks: 3} : undefined,
        marks,
      };
    });
  figure.addEventListener('click', (event) => {
    const rects = [...figure.querySelectorAll('[aria-label="devices"] rect, rect[aria-label="devices"]')];
    const index = rects.indexOf(event.target);
    if (index >= 0) onSelect(index);
  });
  return figure;
}

function placementSection(book) {
  const placement = new Placement(book);
  if (placement.axes.length === 0 || placement.devices < 2) return null;
  if (placement.devices > mostDevices)
    return section('Placement', el('p', {class: 'text'},
      `Drawn for up to ${mostDevices} devices; the plan has ${placement.devices}.`));
  const state = {axis: placement.axes[0].name, device: 0};
  const list = el('ul', {class: 'text', 'aria-live': 'polite'});
  const update = () => {
    list.replaceChildren(...placement.holdings(state.device).map((line) => el('li', {}, line)));
    drawings.get(figure) && draw(figure, drawings.get(figure).options);
  };
  const chosen = el('input', {type: 'number', min: 0, max: placement.devices - 1, value: 0,
    oninput: () => {
      const device = Number(chosen.value);
      if (Number.isInteger(device) && device >= 0 && device < placement.devices) {
        state.device = device;
        update();
      }
    }});
  const axes = el('select', {onchange: () => { state.axis = axes.value; update(); }},
                  placement.axes.map((axis) => el('option', {value: axis.name}, axis.name)));
  const figure = placementFigure(placement, state, (device) => {
    state.device = device;
    chosen.value = device;
    update();
  });
  const result = section('Placement',
    el('p', {class: 'actions'}, el('label', {}, 'Colors by axis ', axes), ' ',
       el('label', {}, 'Device ', chosen)), figure, list);
  list.replaceChildren(...placement.holdings(0).map((line) => el('li', {}, line)));
  return result;
}
