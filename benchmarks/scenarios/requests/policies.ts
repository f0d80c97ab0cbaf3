import { generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { load } from '../../support/generators/wrk.ts';
import { type Contender, measureInTurns } from '../../support/turns/measure.ts';

const key = 'a-key-that-is-as-long-as-others-are';
const farAway = 4_000_000_000;
/** More than any cache of verified tokens holds, so that each one is new whenever it comes round again. */
const freshTokens = 40_000;

/** What authentication and limits add: each route has one more plugin than a plain one. */
export const policies: Scenario = {
  name: 'policies',
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const gateway = await startGateway({ folder: context.folder, workers: 1 });
    const admin = new AdminClient(gateway.adminUrl);
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    try {
      await admin.addRoutes(context.backend.url, 5);
      await configure(admin, publicKey);
      const tokens = join(context.folder, 'tokens');
      context.say(`signing ${freshTokens} tokens`);
      const list = Array.from({ length: freshTokens }, (_, at) => token(privateKey, at));
      writeFileSync(tokens, list.join('\n'));
      const withKey: Contender['load'] = { script: 'header.lua', args: ['apikey', key] };
      const reused: Contender['load'] = { script: 'header.lua', args: ['Authorization', `Bearer ${list[0]}`] };
      const fresh: Contender['load'] = { script: 'lines.lua', args: ['Authorization', 'Bearer ', tokens] };
      const measured = await measureInTurns(context, [
        { subject: context.peer, path: '/r/0' },
        { subject: gateway, path: '/r/0' },
        { subject: gateway, path: '/r/1', load: withKey },
        { subject: gateway, path: '/r/2', load: withKey },
        { subject: gateway, path: '/r/3', load: reused },
        { subject: gateway, path: '/r/3', load: fresh },
        { subject: gateway, path: '/r/4', load: withKey },
      ]);
      const cost = measured.map(({ cpuPerRequest }) => cpuPerRequest);
      const [peer = [], , keyed = [], limited = []] = cost;
      const [known = [], unknown = [], leased = []] = cost.slice(4);
      const check = await signatureCheck(context, publicKey, list);
      const common = { scenario: 'policies', unit: 'µs' };
      return [
        figure({ ...common, what: 'CPU per request, key-auth', gateway: keyed, peer, maxRatio: 1.4 }),
        figure({ ...common, what: 'key-auth and rate-limiting (local)', gateway: limited, peer, maxRatio: 1.6 }),
        figure({
          ...common,
          what: 'rate-limiting (cluster, one hot key)',
          gateway: leased,
          peer: limited,
          peerName: 'the same, local',
          maxRatio: 1.1,
        }),
        figure({ ...common, what: 'jwt RS256, one token', gateway: known, peer, maxRatio: 1.7 }),
        figure({
          ...common,
          what: 'jwt RS256, a new token each',
          gateway: unknown,
          peer: known.map((cost) => cost + check),
          peerName: 'one token + check',
          maxRatio: 1.2,
        }),
      ];
    } finally {
      admin.close();
      await gateway.stop();
    }
  },
};

async function configure(admin: AdminClient, publicKey: KeyObject): Promise<void> {
  await admin.write('PUT', '/consumers/ada', {});
  await admin.write('POST', '/consumers/ada/key-auth', { key });
  await admin.write('POST', '/consumers/ada/jwt', {
    key: 'ada',
    algorithm: 'RS256',
    rsa_public_key: publicKey.export({ type: 'spki', format: 'pem' }),
  });
  await admin.write('POST', '/routes/route-1/plugins', { name: 'key-auth' });
  await admin.write('POST', '/routes/route-2/plugins', { name: 'key-auth' });
  await admin.write('POST', '/routes/route-2/plugins', {
    name: 'rate-limiting',
    config: { minute: farAway, policy: 'local' },
  });
  await admin.write('POST', '/routes/route-4/plugins', { name: 'key-auth' });
  await admin.write('POST', '/routes/route-4/plugins', {
    name: 'rate-limiting',
    config: { minute: farAway, policy: 'cluster' },
  });
  await admin.write('POST', '/routes/route-3/plugins', { name: 'jwt', config: { claims_to_verify: ['exp'] } });
}

function token(privateKey: KeyObject, serial: number): string {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode({ iss: 'ada', exp: farAway, jti: String(serial) })}`;
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`;
}

/**
 * CPU microseconds of one check of a signature alone, while the peer is under load: the two threads of a core slow each other
 * down, and the gateway's checks are made on a machine that is as busy.
 */
async function signatureCheck(context: BenchContext, publicKey: KeyObject, tokens: readonly string[]): Promise<number> {
  const checks = tokens.slice(0, 20_000).map((text) => {
    const end = text.lastIndexOf('.');
    return { signed: Buffer.from(text.slice(0, end)), signature: Buffer.from(text.slice(end + 1), 'base64url') };
  });
  let checked = 0;
  let used = 0;
  let loaded = true;
  const done = load(context.tools.wrk, { url: `${context.peer.url}/r/0`, seconds: 2, connections: 64 }).finally(() => {
    loaded = false;
  });
  while (loaded) {
    const before = process.cpuUsage();
    for (let at = 0; at < 200; at++) {
      const { signed, signature } = checks[checked++ % checks.length]!;
      verify('RSA-SHA256', signed, publicKey, signature);
    }
    const { user, system } = process.cpuUsage(before);
    used += user + system;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await done;
  return used / checked;
}
