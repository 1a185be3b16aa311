// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of pages share: a browser, checks that count, and what may go
// wrong on any page.

import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {parseArgs} from 'node:util';

export const {values: options} = parseArgs({options: {
  bin: {type: 'string'}, packages: {type: 'string'}, keep: {type: 'string'},
  chromium: {type: 'string', default: 'chromium'},
}});
const require = createRequire(path.resolve(options.packages, 'package.json'));
const {chromium} = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

let passed = 0, failed = 0;

export function check(name, faults) {
  if (faults.length === 0) {
    ++passed;
    return;
  }
  ++failed;
  console.log(`FAIL: ${name}`);
  for (const fault of faults.slice(0, 8)) console.log(`  ${fault}`);
}

export function finish() {
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

export function launch() {
  const executablePath = options.chromium.includes('/')
    ? options.chromium : execFileSync('which', [options.chromium]).toString().trim();
  return chromium.launch({executablePath, args: ['--no-sandbox']});
}

// What went wrong on a page beside what it shows; it may ask `own` addresses.
export function watch(page, own = /^(file|data|blob):/) {
  const faults = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    if (!own.test(request.url())) faults.push(`asks for ${request.url()}`);
  });
  return faults;
}

// Whether the page is wider than its window, all folds opened.
export async function widthFaults(page) {
  await page.evaluate(() => document.querySelectorAll('details').forEach((one) => { one.open = true; }));
  const over = await page.evaluate(() =>
    document.documentElement.scrollWidth - document.documentElement.clientWidth);
  return over > 0 ? [`${over} px wider than the window`] : [];
}

// Serious faults for who cannot see it, or uses no mouse.
export async function accessFaults(page) {
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() => axe.run({resultTypes: ['violations']}));
  return violations.filter((one) => ['serious', 'critical'].includes(one.impact))
    .map((one) => `${one.id}: ${one.help}: ${one.nodes[0].html.slice(0, 120)}`);
}
