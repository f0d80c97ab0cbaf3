import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startBackend } from '../support/backend.ts';
import { activeChecks, startHealthRig } from '../support/health-rig.ts';
import { openClient } from '../support/raw-client.ts';

/** How long the load lasts, and how often the target changes, in milliseconds. */
const duration = 3000;
const flap = 300;

describe('one target of five that flaps under load', () => {
  it('fails no idempotent request', async (t) => {
    let down = false;
    await using flapping = await startBackend({
      handler: (request, response) => (down ? request.socket.destroy() : response.end('flapping')),
    });
    flapping.server.on('connection', (socket) => {
      if (down) socket.resetAndDestroy();
    });
    const steady = await Promise.all(
      Array.from({ length: 4 }, () => startBackend({ handler: (_, response) => response.end('steady') })),
    );
    try {
      await using rig = await startHealthRig({
        healthchecks: {
          ...activeChecks(),
          passive: { unhealthy: { tcp_failures: 1, timeouts: 1 }, healthy: { successes: 1 } },
        },
        targets: [flapping, ...steady].map(({ port }) => `127.0.0.1:${port}`),
        service: { retries: 2 },
      });
      const end = performance.now() + duration;
      const timer = setInterval(() => {
        down = !down;
        if (down) flapping.server.closeAllConnections();
      }, flap);
      const seen = { flapping: 0, steady: 0 };
      const load = async (): Promise<void> => {
        using client = await openClient(rig.gateway.proxyPort);
        while (performance.now() < end) {
          client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
          const { status, body } = await client.readResponse();
          assert.equal(status, 200, body);
          seen[body as keyof typeof seen]++;
        }
      };
      await Promise.all(Array.from({ length: 8 }, load)).finally(() => clearInterval(timer));
      t.diagnostic(`${seen.steady + seen.flapping} requests, ${seen.flapping} of them answered by the one that flaps`);
      assert.ok(seen.flapping > 0 && seen.steady > 0);
    } finally {
      await Promise.all(steady.map((backend) => backend.close()));
    }
  });
});
