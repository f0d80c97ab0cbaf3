import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { lookup, resolve4 } from 'node:dns';
import { resolveTxt } from 'node:dns/promises';
import { appendFileSync, createWriteStream, openSync } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { connect, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { definePlugin, httpProtocols, reply } from '../../src/plugin-sdk/index.ts';

interface Config {
  readonly does: string;
  readonly file: string;
  readonly port: number;
}

/** Each leaves a trace in the file or at the port. */
const effects: Readonly<Record<string, (file: string, port: number) => unknown>> = {
  file: (file) => appendFileSync(file, 'x'),
  connect: (_, port) => connect(port, '127.0.0.1').on('error', () => {}),
  tls: (_, port) => connectTls(port, '127.0.0.1').on('error', () => {}),
  http2: (_, port) => connectHttp2(`http://127.0.0.1:${port}`).on('error', () => {}),
  fetch: (_, port) => fetch(`http://127.0.0.1:${port}`).catch(() => {}),
  datagram: (_, port) => createSocket('udp4').send('x', port, '127.0.0.1'),
  listen: () => createServer().listen(0),
  lookup: () => lookup('a.test', () => {}),
  resolve: () => resolve4('a.test', () => {}),
  txt: () => resolveTxt('a.test').catch(() => {}),
  spawn: (file) => spawn('touch', [file]),
  kill: () => process.kill(process.pid, 'SIGTERM'),
  exit: () => process.exit(1),
  thread: (file) => new Worker(`require('node:fs').writeFileSync(${JSON.stringify(file)}, 'x')`, { eval: true }),
  'write stream': (file) => createWriteStream(file).write('x'),
  'open sync': (file) => openSync(file, 'w'),
  open: (file) => open(file, 'a').catch(() => {}),
  'write file': (file) => writeFile(file, 'x').catch(() => {}),
  remove: (file) => rm(`${file}.kept`).catch(() => {}),
};

/** Calls in this thread. */
let calls = 0;

/** A plugin for tests: does something that others see, and answers with the number of its calls. */
export default definePlugin<Config>({
  name: 'busybody',
  version: '1.0.0',
  priority: 5,
  protocols: httpProtocols,
  schema: () => import('./busybody-schema.fixture.ts'),
  setup({ does, file, port }, tools) {
    return {
      access({ request }) {
        calls++;
        tools.count('calls');
        if (does === 'loop') for (;;);
        if (does === 'print') process.stdout.write('a busybody prints\n');
        if (does === 'log') tools.log.error('a busybody logs');
        if (does === 'as the header says') effects[request.header('x-does') ?? '']?.(file, port);
        if (does === 'crash') setImmediate(() => JSON.parse('{'));
        if (does === 'fill') fill();
        return does === 'count' ? reply({ status: 200, body: String(calls) }) : reply({ status: 202 });
      },
      log() {
        if (does === 'log-phase') appendFileSync(file, 'x');
      },
    };
  },
});

function fill(): void {
  const held: object[] = [];
  for (;;) held.push({ text: [held.length] });
}
