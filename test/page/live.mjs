// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Uses the live page of `autopar serve` as people do: fields, sliders, undo,
// addresses, pinned runs, sweeps, searches, a program changed by hand.
//
// usage: node live.mjs --bin DIR --packages DIR

import {spawn} from 'node:child_process';
import path from 'node:path';

import {accessFaults, check, finish, launch, options, watch, widthFaults} from './browser.mjs';

const question = {
  model: 'deepseek-v3',
  flags: {hardware: 'h200-sxm-8', nodes: 8, 'shard-tp': 8, 'shard-dp': 8, 'shard-ep': 64,
          phase: 'decode', batch: 64, context: 4096},
};
const addressOf = (base, value) => `${base}#${encodeURIComponent(JSON.stringify(value))}`;

// The address that the server says.
function serve() {
  const server = spawn(path.join(options.bin, 'autopar'), ['serve', '--port=0'],
                       {stdio: ['ignore', 'pipe', 'inherit']});
  const address = new Promise((resolve, reject) => {
    let text = '';
    server.stdout.on('data', (part) => {
      text += part;
      const found = text.match(/http:\/\/\S+/);
      if (found) resolve(found[0]);
    });
    server.on('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return {server, address};
}

async function open(browser, base, value, settings = {}) {
  const page = await browser.newPage({viewport: {width: 1400, height: 900}, ...settings});
  const faults = watch(page, new RegExp(`^(data|blob):|^${base}`));
  await page.goto(addressOf(base, value));
  await page.waitForSelector('#program');
  return {page, faults};
}

async function checkLook(browser, base) {
  for (const width of [380, 1100, 1900])
    for (const colorScheme of ['light', 'dark']) {
      const {page, faults} = await open(browser, base, question,
                                        {viewport: {width, height: 900}, colorScheme});
      faults.push(...await widthFaults(page));
      if (width === 1100) faults.push(...await accessFaults(page));
      check(`live at ${width} px, ${colorScheme}`, faults);
      await page.close();
    }
}

const stepTime = (page) => page.locator('.card:has(h3:text("Step time")) .big').textContent();
const field = (page, label) => page.locator(`.field:has(span:text-is("${label}")) input`);

// What the page does to a value that is typed, to going back, and to addresses.
async function checkFields(browser, base) {
  const {page, faults} = await open(browser, base, question);
  const first = await stepTime(page);
  await field(page, 'Sequences').fill('512');
  await page.keyboard.press('Enter');
  await page.waitForFunction((text) => document.querySelector('.card:nth-child(2) .big').textContent !== text, first);
  const second = await stepTime(page);
  if (!(await page.locator('.command').textContent()).includes('--batch=512'))
    faults.push('the command does not follow');
  const other = await open(browser, base, JSON.parse(decodeURIComponent(page.url().split('#')[1])));
  if (await stepTime(other.page) !== second) faults.push('the address is another question');
  await other.page.close();
  await page.locator('button:text-is("Undo")').click();
  await page.waitForFunction((text) => document.querySelector('.card:nth-child(2) .big').textContent === text, first)
    .catch(() => faults.push('undo does not go back'));
  check('live: fields, undo, addresses', faults);
  await page.close();
}

// A plan that does not divide is refused with what works, and nothing is lost.
async function checkRefusal(browser, base) {
  const {page} = await open(browser, base, question);
  const faults = [];
  await field(page, 'Tensor (tp)').fill('7');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.refusal');
  const text = await page.locator('[role=alert]').textContent();
  if (!/that works: 1/.test(text)) faults.push(text);
  check('live: refusals', faults);
  await page.close();
}

async function takeBestPlan(page) {
  await page.locator('#search button:text-is("Find the best plan")').click();
  await page.waitForSelector('#search button:has-text("Use ")', {timeout: 60000});
  await page.locator('#search button:has-text("Use ")').click();
  await page.waitForFunction(() => /--plan=/.test(document.querySelector('.command').textContent));
}

// A search has the devices of the question's nodes, which are not 8 each.
async function checkSmallNodes(browser, base) {
  const {page, faults} = await open(browser, base, {
    model: 'llama-3.1-8b',
    flags: {hardware: 'gh200-144gb-2', nodes: 2, 'shard-tp': 2, 'shard-dp': 2, phase: 'decode',
            batch: 8, context: 4096}});
  await takeBestPlan(page);
  await page.waitForTimeout(500);
  const command = await page.locator('.command').textContent();
  if (!command.includes('--nodes=2')) faults.push(command);
  if (await page.locator('.refusal').count()) faults.push('the plan that was found is refused');
  check('live: a search on nodes of two devices', faults);
  await page.close();
}

// What can be chosen is what the server has.
async function checkChoices(browser, base) {
  const {page, faults} = await open(browser, base, question);
  const optionsOf = (label) => page.locator(`.field:has(span:text-is("${label}")) option`).allTextContents();
  for (const [path, part, label] of [['runtimes', 'runtimes', 'Runtime'], ['formats', 'weights', 'Weights'],
                                     ['formats', 'kv_cache', 'KV cache']]) {
    const answer = await (await fetch(new URL(`/${path}`, base))).json();
    const expected = ['as it is', ...answer[part].map((one) => one.id ?? one)].join();
    const found = (await optionsOf(label)).join();
    if (found !== expected) faults.push(`${label}: ${found}, expected ${expected}`);
  }
  check('live: choices', faults);
  await page.close();
}

async function checkStudies(browser, base) {
  const {page, faults} = await open(browser, base, {
    model: 'llama-3.1-8b',
    flags: {hardware: 'h100-sxm-8', 'shard-tp': 2, phase: 'decode', batch: 8, context: 4096}});
  await page.locator('button:text-is("Pin this run")').click();
  await field(page, 'Tensor (tp)').fill('4');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('.command').textContent.includes('shard-tp=4'));
  await page.waitForTimeout(500);
  await page.locator('button:text-is("Pin this run")').click();
  const pins = await page.locator('#pinned-runs tbody tr').count();
  if (pins !== 2) faults.push(`${pins} pinned runs`);
  if (!/%\)/.test(await page.locator('#pinned-runs').textContent())) faults.push('no differences of pinned runs');
  await page.locator('#sweep button:text-is("Sweep")').click();
  await page.waitForSelector('#sweep figure svg', {timeout: 20000});
  await takeBestPlan(page);
  check('live: pinned runs, a sweep, a search and its plan', faults);
  await page.close();
}

async function checkProgram(browser, base) {
  const {page, faults} = await open(browser, base, {
    model: 'llama-3.1-8b', flags: {hardware: 'h100-sxm-8', 'shard-tp': 2, phase: 'decode', batch: 8, context: 4096}});
  const first = await stepTime(page);
  await page.locator('#change-the-program summary').click();
  const text = page.locator('textarea.program');
  await page.waitForFunction(() => document.querySelector('textarea.program').value.length > 100);
  await text.fill((await text.inputValue()).replace('repeat 32', 'repeat 16'));
  await page.locator('button:text-is("Estimate it")').click();
  await page.waitForFunction((old) => document.querySelector('.card:nth-child(2) .big')?.textContent !== old, first)
    .catch(() => faults.push('the numbers do not follow the program'));
  check('live: a program changed by hand', faults);
  await page.close();
}

// From a slider's move to its numbers and bars on the screen, in milliseconds.
async function checkSlider(browser, base) {
  const {page, faults} = await open(browser, base, question);
  await page.waitForSelector('.slider input');
  const times = await page.evaluate(async () => {
    const slider = document.querySelector('.slider input');
    const times = [];
    for (let i = 0; i < 30; ++i) {
      const head = document.querySelector('.shown .answer');
      const begun = performance.now();
      slider.value = 60 + i;
      slider.dispatchEvent(new Event('input', {bubbles: true}));
      await new Promise((resolve) => {
        const look = () => requestAnimationFrame(
          document.querySelector('.shown .answer') !== head &&
          document.querySelectorAll('.shown figure svg').length >= 2 ? resolve : look);
        look();
      });
      times.push(performance.now() - begun);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return times.sort((a, b) => a - b);
  });
  console.log(`slider to screen: median ${times[15].toFixed(0)} ms, slowest ${times[29].toFixed(0)} ms`);
  check('live: sliders', faults);
  await page.close();
}

async function main() {
  const {server, address} = serve();
  const base = await address;
  const browser = await launch();
  for (const look of [checkLook, checkFields, checkChoices, checkRefusal, checkStudies,
                      checkSmallNodes, checkProgram, checkSlider])
    await look(browser, base).catch((error) => check(look.name, [error.message]));
  await browser.close();
  server.kill('SIGTERM');
  finish();
}

await main();
