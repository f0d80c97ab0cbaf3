import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecureContext } from 'node:tls';
import type { PluginPhases } from '../../plugin-sdk/phases.ts';
import { privateMeter } from '../../shared/zones/plugin-meter.ts';
import { handshakeContext } from '../request/handshake-context.ts';
import type { RuntimeSnapshot } from '../snapshot/runtime.ts';
import type { PluginInstance } from './plan.ts';
import { runCertificate } from './run-certificate.ts';

type Phase = NonNullable<PluginPhases['certificate']>;

const [first, second, stored] = [createSecureContext(), createSecureContext(), createSecureContext()];
const handshake = { serverName: 'a.test', hasCertificate: false, challenge: false, clientIp: '192.0.2.1' };

function instances(logged: string[], ...phases: readonly Phase[]): readonly PluginInstance[] {
  const log = { error: (message: string) => logged.push(message) };
  return phases.map(
    (certificate) => ({ phases: { certificate }, log, meter: privateMeter() }) as unknown as PluginInstance,
  );
}

function snapshot(certificate: readonly PluginInstance[], hasOwn = true): RuntimeSnapshot {
  const own = hasOwn ? { id: 'x', secureContext: () => stored } : null;
  return { certificateFor: () => own, globalPlan: { certificate } } as unknown as RuntimeSnapshot;
}

test('the first certificate wins, synchronous or not; a plugin that fails is skipped', async () => {
  const logged: string[] = [];
  const broken: Phase = () => {
    throw new Error('secret cause');
  };
  const brokenLater: Phase = async () => {
    throw new Error('secret cause');
  };
  const all = instances(
    logged,
    broken,
    () => null,
    brokenLater,
    async () => null,
    () => first,
    () => second,
  );
  assert.equal(await runCertificate(all, handshake), first);
  assert.deepEqual(logged, ['plugin failed', 'plugin failed']);
  assert.equal(
    runCertificate(
      instances(
        logged,
        () => second,
        () => first,
      ),
      handshake,
    ),
    second,
  );
  assert.equal(
    runCertificate(
      instances(logged, () => null),
      handshake,
    ),
    null,
  );
});

test('without a certificate from a plugin the configured one is shown', async () => {
  const seen: object[] = [];
  const watching = instances([], (view) => {
    seen.push(view);
    return null;
  });
  assert.equal(
    handshakeContext(snapshot(watching), 'A.test.', false, () => true, '192.0.2.1'),
    stored,
  );
  assert.equal(
    handshakeContext(snapshot(watching, false), 'a.test', false, () => true, '192.0.2.1'),
    null,
  );
  assert.deepEqual(seen, [
    { serverName: 'a.test', hasCertificate: true, challenge: false, clientIp: '192.0.2.1' },
    { serverName: 'a.test', hasCertificate: false, challenge: false, clientIp: '192.0.2.1' },
  ]);
  assert.equal(
    handshakeContext(snapshot(instances([], () => first)), 'a.test', false, () => true, '192.0.2.1'),
    first,
  );
  assert.equal(
    handshakeContext(snapshot([]), 'a.test', false, () => true, '192.0.2.1'),
    stored,
  );
});

test('an unanswered challenge never gets the certificate of the host', async () => {
  const silent = instances([], () => null);
  const silentLater = instances([], async () => null);
  assert.throws(() => handshakeContext(snapshot(silent), 'a.test', true, () => true, '192.0.2.1'), /nobody answers/);
  await assert.rejects(
    async () => handshakeContext(snapshot(silentLater), 'a.test', true, () => true, '192.0.2.1'),
    /nobody answers/,
  );
  assert.equal(
    handshakeContext(snapshot(instances([], () => first)), 'a.test', true, () => true, '192.0.2.1'),
    first,
  );
});
