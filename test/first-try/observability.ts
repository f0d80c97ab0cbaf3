import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { until } from '../support/until.ts';
import { type FirstTry, passes, type Setting } from './first-try.ts';

/** What a receiver has received so far. */
let received = '';
let collector: TestBackend;

async function tcpReceiver({ resources }: Setting): Promise<number> {
  received = '';
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (data) => {
        received += data;
      });
    resources.defer(() => void socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  resources.defer(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function udpReceiver({ resources }: Setting): Promise<number> {
  received = '';
  const socket = createSocket('udp4').on('message', (data) => {
    received += data;
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  resources.defer(() => void socket.close());
  return socket.address().port;
}

async function httpReceiver({ resources }: Setting): Promise<string> {
  collector = resources.use(await startBackend());
  return collector.url;
}

/** Checks that the record of the request arrives, with its route. */
async function isLogged(setting: Setting): Promise<void> {
  await passes(setting);
  await until(() => received.includes('"request"') && received.includes(setting.name));
}

async function isSent(setting: Setting): Promise<void> {
  await passes(setting);
  await until(() => collector.requests.length > 0, 20_000);
  assert.equal(collector.requests[0]?.method, 'POST');
}

export const observability: Readonly<Record<string, FirstTry>> = {
  'file-log': {
    config: ({ folder }) => ({ path: join(folder, 'requests.log') }),
    works: async (setting) => {
      await passes(setting);
      const text = (): Promise<string> => readFile(join(setting.folder, 'requests.log'), 'utf8').catch(() => '');
      await until(async () => (await text()).includes('"request"'));
    },
  },
  'http-log': { config: async (setting) => ({ http_endpoint: await httpReceiver(setting) }), works: isSent },
  'tcp-log': {
    config: async (setting) => ({ host: '127.0.0.1', port: await tcpReceiver(setting) }),
    works: isLogged,
  },
  'udp-log': {
    config: async (setting) => ({ host: '127.0.0.1', port: await udpReceiver(setting) }),
    works: isLogged,
  },
  // Their receivers have fixed addresses (/dev/log, port 8125) that a test cannot use: the request must not be affected.
  syslog: {},
  statsd: {},
  datadog: {},
  zipkin: {},
  opentelemetry: {
    config: async (setting) => ({ traces_endpoint: `${await httpReceiver(setting)}/v1/traces` }),
    works: async (setting) => {
      // Samples every request; the default is one in a hundred.
      const traceparent = '00-80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-01';
      const answer = await setting.ask('/', { headers: { traceparent } });
      assert.equal(answer.status, 200, answer.body);
      await until(() => collector.requests.length > 0, 20_000);
      assert.equal(collector.requests[0]?.url, '/v1/traces');
    },
  },
  prometheus: {
    works: async (setting) => {
      await passes(setting);
      const page = await (await fetch(`${setting.gateway.statusUrl}/metrics`)).text();
      assert.match(page, /^kong_|^sluicegate_/m);
    },
  },
};
