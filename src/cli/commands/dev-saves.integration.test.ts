import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Clients, http1 } from '../../../test/support/load-clients.ts';
import { until } from '../../../test/support/until.ts';
import { fetchPath, startDev, wordHandler, wordPlugin } from '../dev/testing/dev-process.ts';

const saves = Number(process.env['SAVES'] ?? 100);
const pieces = 10;

/** Reads an upload to its end, and streams its answer in pieces. Returns its URL. */
async function startSlowBackend(t: TestContext): Promise<string> {
  const server = createServer(async (received, response) => {
    let bytes = 0;
    for await (const piece of received as AsyncIterable<Buffer>) bytes += piece.byteLength;
    for (let piece = 0; received.url === '/stream' && piece < pieces; piece++) {
      response.write(`piece ${piece}\n`);
      await wait(20);
    }
    response.end(`${bytes} bytes`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece;
  return text;
}

/** An upload in pieces, which takes longer than a reload. */
async function slowUpload(port: number): Promise<void> {
  const sent = request({ port, host: '127.0.0.1', path: '/upload', method: 'POST', agent: false });
  const answered = once(sent, 'response');
  for (let piece = 0; piece < pieces; piece++) {
    sent.write('x'.repeat(1000));
    await wait(20);
  }
  sent.end();
  const [response] = (await answered) as [IncomingMessage];
  const text = await textOf(response);
  if (response.statusCode !== 200 || text !== `${pieces * 1000} bytes`)
    throw new Error(`${response.statusCode} ${text}`);
}

async function streamedAnswer(port: number): Promise<void> {
  const sent = get({ port, host: '127.0.0.1', path: '/stream', agent: false });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const text = await textOf(response);
  if (response.statusCode !== 200 || !text.endsWith(`piece ${pieces - 1}\n0 bytes`)) {
    throw new Error(`${response.statusCode} ${text}`);
  }
}

test(`${saves} saves harm no request in flight`, async (t) => {
  const backend = await startSlowBackend(t);
  const kong = `_format_version: "3.0"
services:
- name: slow
  url: ${backend}
  routes:
  - { name: all, paths: ["/"], strip_path: false }
plugins:
- { name: my-policy }
`;
  const files = { ...wordPlugin('save-0'), 'kong.yaml': kong };
  const dev = startDev(t, files, { args: ['--config', 'kong.yaml'] });
  await dev.started();
  const port = Number(new URL(dev.proxy()).port);
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  using clients = new Clients();
  clients.add('keep-alive', 2, () => http1(port, agent, '/echo'));
  clients.add('upload', 2, () => slowUpload(port));
  clients.add('stream', 2, () => streamedAnswer(port));
  await clients.progress(1);
  const times: number[] = [];
  for (let save = 1; save <= saves; save++) {
    const begun = performance.now();
    const text = wordHandler(`save-${save}`);
    if (save % 2 === 0) dev.write('handler.ts', text);
    else dev.replace('handler.ts', text);
    await until(async () => (await fetchPath(dev.proxy())).headers['word'] === `save-${save}!`);
    times.push(performance.now() - begun);
  }
  assert.deepEqual(await clients.stop(), []);
  assert.doesNotMatch(dev.output(), /cannot be used|failed in/);
  const sorted = times.toSorted((one, other) => one - other);
  const at = (part: number): number => Math.round(sorted[Math.floor(sorted.length * part)] ?? 0);
  t.diagnostic(`save to live in ms: p50 ${at(0.5)}, p95 ${at(0.95)}, max ${at(0.999)}`);
});

test('saves that come faster than reloads end with the newest', async (t) => {
  const dev = startDev(t, wordPlugin('first'));
  await dev.started();
  for (let save = 0; save < 20; save++) {
    dev.write('handler.ts', wordHandler(`save-${save}`));
    await wait(17);
  }
  await until(async () => (await fetchPath(dev.proxy())).headers['word'] === 'save-19!');
  assert.doesNotMatch(dev.output(), /cannot be used/);
});
