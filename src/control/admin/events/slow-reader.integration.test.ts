import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { residentMemory } from '../../../../test/support/rig.ts';
import { until } from '../../../../test/support/until.ts';
import { parseQuery } from '../http/query.ts';
import { EventStreams } from './event-streams.ts';
import { eventText } from './event-text.ts';

test('a client that does not read costs a bounded amount of memory, and continues with the latest events', async () => {
  const closing = new AbortController();
  const streams = new EventStreams({ maxViewers: 10, closing: closing.signal });
  const server = createServer((request, response) => {
    const query = parseQuery(request.url ?? '/');
    const { headers, stream } = streams.open({ query, requireStillAllowed: async () => {} }, () => () => {});
    response.writeHead(200, headers);
    stream?.body.pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await until(() => streams.size === 1);
  client.pause();
  const padding = 'x'.repeat(64_000);
  const before = residentMemory();
  const count = 2_000;
  for (let number = 0; number < count; number++) {
    streams.broadcast(eventText('n', { number, padding }));
    await nextTurn();
  }
  const grown = residentMemory() - before;
  assert.ok(grown < 60_000_000, `${count * padding.length} bytes of events took ${grown} bytes`);
  let text = '';
  client.setEncoding('latin1').on('data', (piece: string) => {
    text = (text + piece).slice(-200_000);
  });
  client.resume();
  await until(() => text.includes(`"number":${count - 1}`));
  closing.abort();
  await until(() => text.includes('"reason":"closing"'));
  client.destroy();
  await new Promise((resolve) => server.close(resolve));
});
