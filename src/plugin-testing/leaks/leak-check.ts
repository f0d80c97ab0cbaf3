import type { TypedPlugin } from '../../plugin-sdk/define-plugin.ts';
import type { GatewayRequest } from '../gateway/client/contract.ts';
import { type InstanceConfig, simpleConfig } from '../gateway/config/contract.ts';
import type { Leak, LeakOptions, LeakReport } from './contract.ts';

/** Bytes that one request or setup must leave behind, at least, to be called a leak. */
const leastOfRequest = 20;
const leastOfSetup = 256;
/** Setups of a round. */
const setups = 6;
/** Rounds in a row in which the number of resources must have grown. */
const resourceRounds = 4;

/**
 * Looks for what a plugin leaks: runs rounds of requests, and of setups and disposals, and reports what grows in each of them: memory,
 * timers, listeners of the process, and handles. It takes two to three seconds of CPU, in which V8 does not optimize
 * code of this thread.
 *
 * @example
 * test('leaks nothing', async () => {
 *   assert.deepEqual((await leakCheck(hello)).leaks, []);
 * });
 */
export async function leakCheck<C>(plugin: TypedPlugin<C>, options: LeakOptions<C> = {}): Promise<LeakReport> {
  const { openTestGateway } = await import('../gateway/open-test-gateway.ts');
  const { heapGrowth } = await import('./heap-growth.ts');
  const { allocationPlace } = await import('./places.ts');
  const { withPlainCode } = await import('./plain-code.ts');
  const { Resources } = await import('./resources.ts');
  const { requests: size = 50, request: requestOf = usual } = options;
  const configure = options.configure ?? ((one: InstanceConfig) => simpleConfig(one));
  const instance: InstanceConfig = { name: plugin.name, config: { ...options.config } };
  const config = configure(instance);
  const without = configure({ ...instance, enabled: false });
  const { settings, background, backend } = options;
  const gateway = await openTestGateway({
    plugins: [plugin],
    config,
    ...(settings === undefined ? {} : { settings }),
    ...(background === undefined ? {} : { background }),
    ...(backend === undefined ? {} : { onRequest: backend }),
  });
  const { clock } = gateway;
  const resources = new Resources(() => gateway.timers);
  gateway.traceTimers();
  const leaks: Leak[] = [];
  let n = 0;
  const ask = async (): Promise<void> => {
    // An answer that is missing is for other tests to find.
    await clock.until(gateway.request(requestOf(n++)).catch(() => {}));
  };
  const requestRound = async (): Promise<void> => {
    for (let at = 0; at < size; at += 10) await Promise.all(Array.from({ length: Math.min(10, size - at) }, ask));
    gateway.clear();
    resources.look();
  };
  const setupRound = async (): Promise<void> => {
    for (let at = 0; at < setups; at++) {
      await gateway.apply(config);
      await ask();
      await gateway.apply(without);
    }
    await clock.settle();
    gateway.clear();
    resources.look();
  };
  try {
    const ofRequests = await measured('request', size, leastOfRequest, requestRound);
    await gateway.apply(without);
    const ofSetups = await measured('setup', setups, leastOfSetup, setupRound);
    return { leaks, bytesPerRequest: ofRequests, bytesPerSetup: ofSetups };
  } finally {
    resources.close();
    await gateway.close();
  }

  async function measured(per: Leak['per'], units: number, least: number, round: () => Promise<void>): Promise<number> {
    const growth = await withPlainCode(() => heapGrowth(units, least, round));
    for (const { kind, name, count, place } of resources.growing(resourceRounds)) {
      leaks.push(leakOf(kind, per, count / units, place, name));
    }
    // What is counted already explains why memory grows.
    const explained = leaks.some((leak) => leak.per === per);
    // A leak of each request is one of the requests of a setup, too.
    const known = per === 'setup' && leaks.some((leak) => leak.kind === 'heap' && growth.perUnit < leak.amount * 2);
    if (growth.grows && !explained && !known) {
      leaks.push(
        leakOf('heap', per, growth.perUnit, await withPlainCode(() => allocationPlace(threeTimes(round))), ''),
      );
    }
    return growth.perUnit;
  }
}

/** More samples, for what is small. */
function threeTimes(round: () => Promise<void>): () => Promise<void> {
  return async () => {
    for (let at = 0; at < 3; at++) await round();
  };
}

function leakOf(kind: Leak['kind'], per: Leak['per'], amount: number, place: string | null, name: string): Leak {
  const each = per === 'request' ? 'each request' : 'each setup and disposal';
  const shown =
    kind === 'heap'
      ? `${Math.round(amount)} bytes of memory`
      : `${round(amount)} ${named[kind]}${name === '' ? '' : ` (${name})`}`;
  const where = place === null ? '' : `, made in ${place}`;
  return { kind, per, amount: round(amount), place, message: `${each} leaves ${shown} behind${where}` };
}

const named = { timers: 'timers', listeners: 'listeners of the process', handles: 'open handles' } as const;

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** The same 50 requests again and again. */
function usual(n: number): GatewayRequest {
  const path = `/leak/${n % 50}?n=${n % 50}`;
  return n % 5 === 0
    ? { method: 'POST', path, headers: { 'content-type': 'application/json' }, body: '{"a":1}' }
    : { path };
}
