// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens pages in Chromium: at three widths, light and dark, none may log an
// error, ask for anything outside, be wider than the window, or have a serious
// fault of accessibility; and each number, clicked, must show a derivation that
// gives its value.
//
// usage: node pages.mjs --bin DIR --packages DIR [--keep DIR]

import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';

import {accessFaults, check, finish, launch, options, watch, widthFaults} from './browser.mjs';

const reports = {
  dense: 'llama-3.3-70b --shard-tp=8 --phase=decode --batch=8 --context=4096',
  experts: 'deepseek-v3 --shard-tp=8 --shard-dp=8 --shard-ep=64 --nodes=8 --phase=decode ' +
           '--batch=64 --context=4096',
  stages: 'llama-3.1-405b --shard-tp=8 --stage-pp=2 --nodes=2 --phase=decode --batch=64 ' +
          '--context=2048',
  training: 'llama-3.1-8b --phase=train --shard-dp=4 --stage-pp=2 --batch=64 --context=4096',
  service: 'llama-3.3-70b --shard-tp=8 --rate=4 --prompt=lognormal:2000,0.8 --output-tokens=300',
  prefill: 'llama-3.3-70b --shard-tp=8 --phase=prefill --batch=32 --context=8192',
  unfit: 'llama-3.1-405b --phase=decode --batch=64 --context=8192',
  hybrid: 'qwen3-next-80b-a3b --shard-tp=4 --phase=decode --batch=16 --context=32768',
  figures: 'llama-3.1-8b --shard-tp=2 --set chips.h100-sxm.memory_bandwidth=2e12 --impact',
  many: 'deepseek-v3 --shard-tp=8 --shard-dp=128 --shard-ep=256 --nodes=128 --phase=decode ' +
        '--batch=4096 --context=4096',
  context: 'llama-3.1-8b --shard-cp=8 --phase=prefill --batch=1 --context=131072',
  small: 'qwen3-8b --phase=decode --batch=1 --context=1024',
};
// Other commands: what is written to a page, by what.
const others = {
  // Its data is packed.
  large: 'estimate deepseek-v3 --phase=train --nodes=32 --shard-tp=2 --stage-pp=16 --shard-dp=8 ' +
         '--shard-ep=8 --batch=2048 --context=4096 --recompute=full',
  plans: "compare llama-3.1-8b --plans=tp4;tp8,kv-format=fp8 --phase=decode --batch=64 --context=4096",
  machines: 'compare llama-3.3-70b --hardware=a100-80gb-sxm-8,h100-sxm-8,h200-sxm-8 --shard-tp=8 ' +
            '--phase=decode --batch=32 --context=4096',
  search: 'search llama-3.1-8b --devices=8 --context=4096 --batch=1..256',
  placement: 'placement deepseek-v3 --ranks=32 --redundant=32 --nodes=4 --load=zipf:1.0',
};
const clicked = ['dense', 'experts', 'stages', 'training', 'service', 'prefill'];
const widths = [380, 1100, 1900];

async function checkLook(browser, name, file) {
  for (const width of widths)
    for (const colorScheme of ['light', 'dark']) {
      const page = await browser.newPage({viewport: {width, height: 900}, colorScheme});
      const faults = watch(page);
      await page.goto(`file://${file}`);
      await page.waitForFunction(() => document.querySelectorAll('figure svg').length > 0);
      faults.push(...await widthFaults(page));
      if (width === 1100) faults.push(...await accessFaults(page));
      check(`${name} at ${width} px, ${colorScheme}`, faults);
      await page.close();
    }
}

// By what the panel shows alone; nothing where the formula is no such sum.
function valueOf(formula, inputs) {
  if (formula === '= sum of the inputs') return inputs.reduce((a, b) => a + b, 0);
  if (formula === '= product of the inputs') return inputs.reduce((a, b) => a * b, 1);
  if (formula === '= the input') return inputs[0];
  return null;
}

// Clicks each number; what the panel then shows.
function clickAll() {
  const exact = (text) => Number(text.replaceAll(',', ''));
  document.querySelectorAll('details').forEach((one) => { one.open = true; });
  return [...document.querySelectorAll('main button.number')].map((button) => {
    button.click();
    const dialog = document.querySelector('dialog');
    const rows = [...dialog.querySelectorAll('table')]
      .filter((one) => one.caption.textContent === 'Inputs')
      .flatMap((one) => [...one.tBodies[0].rows]);
    const result = {
      path: button.dataset.path, text: button.textContent,
      shown: dialog.querySelector('.value')?.firstChild.textContent,
      value: Number(dialog.querySelector('.value')?.dataset.value),
      formula: dialog.querySelector('.formula')?.textContent ?? '',
      isFigure: [...dialog.querySelectorAll('caption')]
        .some((one) => one.textContent.startsWith('What 1%')),
      inputs: rows.map((row) => exact(row.cells[1].textContent)),
    };
    dialog.close();
    return result;
  });
}

// Cells of numbers that are no buttons.
const bareNumbers = () =>
  [...document.querySelectorAll('main td.numeric')]
    .filter((cell) => /\d/.test(cell.textContent) && !cell.querySelector('button.number'))
    .map((cell) => cell.textContent);

async function checkNumbers(browser, name, file) {
  const page = await browser.newPage();
  const faults = watch(page);
  await page.goto(`file://${file}`);
  await page.waitForFunction(() => document.querySelectorAll('figure svg').length > 0);
  for (const text of await page.evaluate(bareNumbers)) faults.push(`no derivation: ${text}`);
  const numbers = await page.evaluate(clickAll);
  if (numbers.length < 100) faults.push(`only ${numbers.length} numbers`);
  for (const one of numbers) {
    const at = `${one.path} (${one.text})`;
    const same = one.isFigure ? !Number.isNaN(one.value) : one.shown === one.text ||
                 one.text.includes(one.shown) || one.shown.includes(one.text);
    if (!same) faults.push(`${at}: the panel shows ${one.shown}`);
    if (!one.formula && !one.isFigure) faults.push(`${at}: no formula`);
    const value = valueOf(one.formula, one.inputs);
    if (value !== null && Math.abs(value - one.value) > 1e-9 * Math.max(1, Math.abs(one.value)))
      faults.push(`${at}: ${one.formula} is ${value}, not ${one.value}`);
  }
  await page.close();
  check(`${name}: ${numbers.length} numbers`, faults);
}

function write(name, words, folder) {
  const file = path.join(folder, `${name}.html`);
  execFileSync(path.join(options.bin, 'autopar'),
               [...words.split(' '), '--format=html', `--report-output=${file}`],
               {stdio: ['ignore', 'ignore', 'inherit']});
  const size = statSync(file).size;
  check(`${name}: size`, size < 1.5e6 ? [] : [`${size} bytes`]);
  return file;
}

async function main() {
  const folder = options.keep ?? mkdtempSync(path.join(tmpdir(), 'autopar-pages-'));
  const browser = await launch();
  for (const name of Object.keys(reports)) {
    const file = write(name, `estimate ${reports[name]}`, folder);
    await checkLook(browser, name, file);
    if (clicked.includes(name)) await checkNumbers(browser, name, file);
  }
  for (const [name, words] of Object.entries(others))
    await checkLook(browser, name, write(name, words, folder));
  await browser.close();
  if (!options.keep) rmSync(folder, {recursive: true});
  finish();
}

await main();
