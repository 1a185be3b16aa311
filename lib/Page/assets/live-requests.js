// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Requests to the server that the page came from.

// What the server says is wrong: a message, and what would work.
class ServerProblem extends Error {
  constructor(problem) {
    super(problem.detail ?? problem.title);
    this.errors = problem.errors ?? [];
  }
}

async function answerOf(response) {
  const answer = await response.json();
  if (!response.ok) throw new ServerProblem(answer);
  return answer;
}

async function get(path) {
  return answerOf(await fetch(path));
}

async function post(path, body, signal) {
  return answerOf(await fetch(path, {
    method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body),
    signal}));
}

// The last question asked under `path`; one that comes later ends it.
class Latest {
  constructor(path) {
    this.path = path;
    this.controller = null;
  }

  // The answer; nothing where another question came meanwhile.
  async ask(body) {
    this.controller?.abort();
    const controller = this.controller = new AbortController();
    try {
      const answer = await post(this.path, body, controller.signal);
      return controller === this.controller ? answer : null;
    } catch (error) {
      if (error.name === 'AbortError' || controller !== this.controller) return null;
      throw error;
    }
  }
}

// Events of a stream: onProgress({what, done, all}); the result.
async function postForEvents(path, body, signal, onProgress) {
  const response = await fetch(path, {
    method: 'POST', signal, body: JSON.stringify(body),
    headers: {'Content-Type': 'application/json', Accept: 'text/event-stream'}});
  if (!response.ok) return answerOf(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const {done, value} = await reader.read();
    text += value ?? '';
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
      const lines = text.slice(0, end).split('\n');
      const kind = lines.find((line) => line.startsWith('event: '))?.slice(7);
      const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6));
      if (data.length === 0) continue;
      const message = JSON.parse(data.join('\n'));
      if (kind === 'progress') onProgress(message);
      else if (kind === 'problem') throw new ServerProblem(message);
      else return message;
    }
    if (done) throw new ServerProblem({title: 'the server ended before it had answered'});
  }
}
