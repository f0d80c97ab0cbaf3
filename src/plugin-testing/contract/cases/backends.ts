import assert from 'node:assert/strict';
import type { BackendAnswer, BackendFailure } from '../../gateway/backend/contract.ts';
import type { ContractCase } from '../contract.ts';

/** Where a backend closes or resets the connection. */
const failures: readonly (BackendAnswer | BackendFailure)[] = [
  'reset',
  'close',
  { raw: '' },
  { raw: 'HTTP/1.1 200' },
  { raw: 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n' },
  { raw: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n' },
  { raw: 'no HTTP at all\r\n\r\n' },
];
const halves: readonly BackendFailure[] = [
  { raw: 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"half":' },
  { raw: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhalf' },
  { raw: 'HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n<a>\r\n' },
];

export const backends: readonly ContractCase[] = [
  {
    name: 'backends that fail before an answer',
    async run(rig) {
      for (const failure of failures) {
        for (const http2 of [false, true]) {
          rig.gateway.backend.onRequest = () => failure;
          const answer = await rig.answer({ path: '/failing', http2 });
          assert.notEqual(answer.status, 500, `an internal error: ${answer.body}`);
        }
      }
    },
  },
  {
    name: 'backends that refuse connections, and that are silent',
    async run(rig) {
      const { backend } = rig.gateway;
      backend.onRequest = () => 'hang';
      await rig.answer({ path: '/silent' });
      backend.closeIdle();
      for (const how of ['refuse', 'ignore'] as const) {
        for (const host of hostsOf(rig.config)) backend.connecting(host, how);
        await rig.answer({ path: `/${how}` });
      }
    },
  },
  {
    name: 'half answers of backends are never whole ones',
    async run(rig) {
      const { gateway } = rig;
      for (const half of halves) {
        for (const http2 of [false, true]) {
          gateway.backend.clear();
          gateway.backend.onRequest = () => half;
          const answer = await gateway.clock.until(gateway.request(rig.request({ path: '/half', http2 })));
          const reached = gateway.backend.requests.length > 0;
          const refused = answer.status >= 400;
          assert.ok(!reached || refused || !answer.complete, 'half an answer was passed on as a whole one');
        }
      }
    },
  },
  {
    name: 'retries after attempts that failed',
    async run(rig) {
      for (const failing of [1, 2, 3]) {
        let left = failing;
        rig.gateway.backend.onRequest = () => (left-- > 0 ? 'reset' : { body: '{}' });
        await rig.answer({ path: `/retried/${failing}` });
      }
    },
  },
  {
    name: 'upgrades to WebSockets, accepted and refused',
    async run({ gateway, head }) {
      const refusals: readonly BackendAnswer[] = [{ status: 403, body: 'no' }, { body: 'no upgrade' }];
      const accepted = {
        status: 101,
        headers: {
          upgrade: 'websocket',
          connection: 'upgrade',
          'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
        },
      };
      for (const answer of [accepted, ...refusals]) {
        gateway.backend.onRequest = () => answer;
        const raw = gateway.connect();
        raw.write(`${head('GET', '/socket')}${handshake}\r\n`);
        const text = await gateway.clock.until(raw.until('\r\n\r\n'));
        if (text.startsWith('HTTP/1.1 101 ')) {
          raw.write('ping');
          await raw.until('ping');
        }
        raw.end();
        await gateway.clock.until(raw.closed());
      }
    },
  },
];

/** The example of RFC 6455 1.3. */
const handshake =
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

function hostsOf({
  services = [],
}: {
  readonly services?: readonly { url?: string; host?: string }[];
}): readonly string[] {
  return services.map(({ url, host }) => host ?? new URL(url ?? 'http://backend.test').hostname);
}
