import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { answer, byName } from '../support/raw-backend.ts';
import { openClient, type RawClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';
import { until } from '../support/until.ts';

/** Case 27: more clients than connections are allowed. */
describe('too many connections', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      settings: { workers: 1, workerConnections: 20 },
      script: byName({ plain: (connection) => connection.write(answer('plain')) }),
    });
  });
  after(() => rig.close());

  async function served(client: RawClient): Promise<string> {
    client.write('GET /plain HTTP/1.1\r\nHost: a\r\n\r\n');
    return (await client.readResponse()).body;
  }

  it('closes new connections above the limit, serves open ones, and accepts new ones once some close', async () => {
    const clients = await Promise.all(Array.from({ length: 20 }, () => openClient(rig.port)));
    for (const client of clients) assert.equal(await served(client), 'plain');
    const late = await Promise.all(Array.from({ length: 50 }, () => openClient(rig.port)));
    for (const client of late) assert.equal((await client.readToEnd()).text, '');
    for (const client of clients) assert.equal(await served(client), 'plain');
    for (const client of [...clients, ...late]) client[Symbol.dispose]();
    await until(async () => {
      using client = await openClient(rig.port);
      client.write('GET /plain HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      return (await client.readToEnd()).text.endsWith('plain');
    });
    const { server } = (await rig.gateway.admin('GET', '/status')).body as { server: Record<string, number> };
    const { connections_accepted: accepted = 0, connections_handled: handled = 0 } = server;
    assert.ok(accepted - handled >= 50, JSON.stringify(server));
  });
});
