import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openClient } from '../support/raw-client.ts';
import { type Rig, residentMemory, startRig } from '../support/rig.ts';

/** Case 28, heads: a clear status, bounded memory, nothing at the backend. */
const large: Readonly<Record<string, readonly [bytes: string, statuses: readonly number[]]>> = {
  '1,000 header lines': [`GET / HTTP/1.1\r\nHost: a\r\n${'X-A: b\r\n'.repeat(1000)}\r\n`, [400, 431]],
  '100,000 header lines': [`GET / HTTP/1.1\r\nHost: a\r\n${'X-A: b\r\n'.repeat(100_000)}\r\n`, [400, 431]],
  'one header of 1 MB': [`GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'b'.repeat(1_000_000)}\r\n\r\n`, [400, 431]],
  'a name of 1 MB': [`GET / HTTP/1.1\r\nHost: a\r\n${'X'.repeat(1_000_000)}: b\r\n\r\n`, [400, 431]],
  'a target of 1 MB': [`GET /${'a'.repeat(1_000_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, [400, 414]],
  'a method of 1 MB': [`${'A'.repeat(1_000_000)} / HTTP/1.1\r\nHost: a\r\n\r\n`, [400, 414]],
  'a head without end': [`GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'b'.repeat(5_000_000)}`, [400, 431]],
};

describe('heads that are too large', { concurrency: 4 }, () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig();
  });
  after(async () => {
    const seen = rig.backend.received;
    await rig.close();
    assert.equal(seen, '');
  });

  for (const [what, [bytes, statuses]] of Object.entries(large)) {
    it(`are refused: ${what}`, async () => {
      using client = await openClient(rig.port);
      client.write(bytes);
      const response = await client.readResponse();
      assert.ok(statuses.includes(response.status), `status ${response.status}`);
      await client.readToEnd();
    });
  }

  it('hold no memory: 50 at once', async () => {
    const head = Buffer.from((large['a head without end'] as readonly [string, unknown])[0]);
    const memoryBefore = residentMemory();
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        using client = await openClient(rig.port);
        client.write(head);
        await client.readToEnd();
      }),
    );
    const grown = residentMemory() - memoryBefore;
    assert.ok(grown < 128 * 1024 * 1024, `grew by ${grown} bytes`);
  });
});
