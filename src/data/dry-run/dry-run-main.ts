import { setPriority } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { DryRunBoot, FromDryRun, ToDryRun } from '../../shared/messages/dry-run.ts';
import type { SnapshotDelta } from '../../shared/messages/messages.ts';
import { AddressZone, createAddressZone } from '../../shared/zones/address-zone.ts';
import { workerVitals } from '../../shared/zones/worker-vitals.ts';
import { ZoneRegistry } from '../../shared/zones/zone-registry.ts';
import { showPluginCalls } from '../plugin-runner/current-request.ts';
import { PluginRegistry } from '../plugin-runner/plugin-registry.ts';
import { LiveSnapshot } from '../snapshot/snapshot.ts';
import { DryHost } from './dry-host.ts';
import { DryRun } from './dry-run.ts';
import { type Effect, sealThread } from './sealed-thread.ts';
import { targetAddresses } from './target-addresses.ts';
import { VirtualClock } from './virtual-clock.ts';
import { outside, PluginWatch } from './watched-plugins.ts';

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;
const post = (message: FromDryRun): void => port.postMessage(message);

const reasons: Readonly<Record<Effect, string>> = {
  network: outside,
  files: 'It would write a file, which a dry run does not.',
  processes: 'It would start a process or a thread, which a dry run does not.',
};

async function run(boot: DryRunBoot): Promise<void> {
  const first = boot.requests[0];
  const clock = new VirtualClock(first === undefined ? Date.now() : (JSON.parse(first.raw) as { at: number }).at);
  const watch = new PluginWatch();
  sealThread((effect) => watch.attempted(reasons[effect]));
  const delta = JSON.parse(boot.config) as SnapshotDelta;
  const registry = await PluginRegistry.open(boot.settings.plugins, boot.baseDirectory, boot.code);
  await registry.load((delta.upserts.plugins ?? []).map((row) => String(row['name'])));
  const plugins = new Map([...registry.plugins].map(([name, plugin]) => [name, watch.watched(plugin)]));
  const zones = new ZoneRegistry(plugins);
  zones.change(delta);
  const host = new DryHost(boot, watch, zones, post);
  port.on('message', (message: ToDryRun) => host.answered(message));
  const snapshot = new LiveSnapshot({ zone: new AddressZone(createAddressZone(1), 0), plugins, host });
  snapshot.apply(delta, targetAddresses(delta));
  const dryRun = new DryRun({ boot, snapshot, watch, clock });
  for (const request of boot.requests) {
    // At once: the next one may never end.
    post({ type: 'result', result: await dryRun.repeat(request) });
    await nextTurn();
  }
  post({ type: 'done' });
}

const boot = workerData as DryRunBoot;
// On Linux each thread has its own priority: requests come first.
if (process.platform === 'linux') setPriority(19);
showPluginCalls(workerVitals(boot.vitals, 0));
// What a plugin throws later decides nothing.
process.on('unhandledRejection', () => {});
process.on('uncaughtException', () => {});
try {
  await run(boot);
} catch (error) {
  post({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
}
