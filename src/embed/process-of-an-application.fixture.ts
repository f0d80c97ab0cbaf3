// An application that embeds the gateway, and reports as JSON what that does to its process.
import { once } from 'node:events';
import { createServer } from 'node:http';
import module, { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import v8 from 'node:v8';
import threads from 'node:worker_threads';

const counts = { workers: 0, hooks: 0, flags: 0 };
threads.Worker = class extends threads.Worker {
  constructor(...of: ConstructorParameters<typeof threads.Worker>) {
    super(...of);
    counts.workers++;
  }
};
const { registerHooks } = module;
module.registerHooks = (hooks) => {
  counts.hooks++;
  return registerHooks(hooks);
};
v8.setFlagsFromString = () => void counts.flags++;
syncBuiltinESMExports();

const listeners = () =>
  Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)]));
const resources = () => process.getActiveResourcesInfo().filter((name) => name !== 'Immediate');
const state = () => ({ listeners: listeners(), title: process.title, resources: resources() });
const before = state();

const { createGateway } = await import('./index.ts');
const large = `<list>${'<item>text</item>'.repeat(50_000)}</list>`;
const backend = createServer((request, response) => {
  if (request.url === '/plain/never') return;
  request.resume();
  response.setHeader('Content-Type', 'application/xml');
  response.end(request.url === '/xml' ? large : '<a/>');
});
await new Promise<void>((resolve) => void backend.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`;
const gateway = await createGateway({
  log: () => {},
  config: {
    services: [
      {
        name: 'backend',
        url,
        routes: [
          { name: 'plain', paths: ['/plain'], strip_path: false },
          { name: 'secret', paths: ['/secret'], plugins: [{ name: 'basic-auth' }] },
          {
            name: 'xml',
            paths: ['/xml'],
            strip_path: false,
            plugins: [{ name: 'xml-json', config: { backend: 'xml' } }],
          },
        ],
      },
    ],
    plugins: [{ name: 'rate-limiting', config: { minute: 1000, policy: 'local' } }],
    consumers: [{ username: 'ada', basicauth_credentials: [{ username: 'ada', password: 'of-ada' }] }],
  },
});
const { port } = await gateway.listen({ port: 0 });
const get = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  return { status: answer.status, type: answer.headers.get('content-type'), size: (await answer.text()).length };
};
const authorization = `Basic ${Buffer.from('ada:of-ada').toString('base64')}`;
const answers = [
  await get('/plain'),
  await get('/secret'),
  await get('/secret', { authorization }),
  await get('/xml', { accept: 'application/json' }),
];
const open = state();
// It is cut off: what the end waits for must not be left behind either.
const stuck = get('/plain/never').catch(() => null);
await once(backend, 'request');
await gateway.close({ timeout: 20 });
await stuck;
backend.close();
backend.closeAllConnections();
// Sockets that were closed are gone after some turns of the event loop.
for (let turn = 0; turn < 1000 && resources().length > before.resources.length; turn++) await nextTurn();
const after = state();
await createGateway({ plugins: ['./no-such-plugin.ts'], log: () => {} }).catch(() => {});
await createGateway({ config: { services: [{ name: 'x', url: 'no url' }] }, log: () => {} }).catch(() => {});
const failed = state();
process.stdout.write(`${JSON.stringify({ before, open, after, failed, answers, counts })}\n`);
