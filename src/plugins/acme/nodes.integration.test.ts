import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { skipWithoutDnsServer } from '../../../test/support/dns-server.ts';
import { startTestGateway } from '../../../test/support/gateway.ts';
import { skipWithoutPebble } from '../../../test/support/pebble.ts';
import { skipWithoutPostgres, startPostgres } from '../../../test/support/postgres.ts';
import { testSettings } from '../../../test/support/settings.ts';
import { until } from '../../../test/support/until.ts';
import { acmeSettings, isIssued, shownFor, startAcmeRig } from './acme.fixture.ts';

const skip = skipWithoutPebble() || skipWithoutDnsServer() || skipWithoutPostgres();

describe('several nodes that share a database', { skip }, () => {
  for (const type of ['http-01', 'tls-alpn-01']) {
    it(`order a certificate once, and the authority can reach any of them (${type})`, async () => {
      const server = await startPostgres();
      try {
        const { host, port, user, password, database } = server;
        const pg = { ...testSettings({ prefix: '/tmp' }).pg, host, port, user, password, database };
        const shared = { database: 'postgres', pg } as const;
        // The authority validates at the first node only.
        await using rig = await startAcmeRig({ config: { challenge_type: type }, settings: shared });
        await using second = await startTestGateway({ settings: acmeSettings(rig.identity, shared) });
        const made = await second.admin('POST', '/acme', { host: 'a.acme.test' });
        assert.equal(made.status, 201, JSON.stringify(made.body));
        assert.equal(await isIssued(second, 'a.acme.test'), true);
        await until(() => isIssued(rig.gateway, 'a.acme.test'));

        await Promise.all([rig.gateway, second, rig.gateway, second].map((node) => shownFor(node, 'b.acme.test')));
        await until(
          async () => (await isIssued(rig.gateway, 'b.acme.test')) && (await isIssued(second, 'b.acme.test')),
        );
        const serials = await Promise.all([rig.gateway, second].map((node) => shownFor(node, 'b.acme.test')));
        assert.equal(serials[0]?.serialNumber, serials[1]?.serialNumber);
        assert.deepEqual([rig.orders(), rig.accounts()], [2, 1]);
      } finally {
        await server.stop();
      }
    });
  }
});
