import assert from 'node:assert/strict';
import type { Plugin, TypedPlugin } from '../../plugin-sdk/define-plugin.ts';
import type { PluginTools } from '../../plugin-sdk/tools.ts';
import type { GatewayRequest, TestAnswer } from '../gateway/client/contract.ts';
import { type InstanceConfig, simpleConfig } from '../gateway/config/contract.ts';
import { createTestGateway } from '../gateway/create-test-gateway.ts';
import type { ContractOptions, ContractRig } from './contract.ts';

/** A rig, and what is checked when its case is over. */
export interface CheckedRig extends ContractRig {
  /** Closes the gateway and throws when a rule was broken that holds for every request. */
  finish(): Promise<void>;
}

/** Opens a gateway with the plugin under test. */
export async function openRig<C>(plugin: TypedPlugin<C>, options: ContractOptions<C>): Promise<CheckedRig> {
  const instances = new Instances(plugin);
  const instance: InstanceConfig = { name: plugin.name, config: { ...options.config } };
  const configure = options.configure ?? ((one: InstanceConfig) => simpleConfig(one));
  const config = configure(instance);
  const without = configure({ ...instance, enabled: false });
  const { settings, background } = options;
  const stopWatching = watchProcess();
  const gateway = await createTestGateway({
    plugins: [instances.plugin],
    config,
    ...(settings === undefined ? {} : { settings }),
    ...(background === undefined ? {} : { background }),
    ...(options.backend === undefined ? {} : { onRequest: options.backend }),
  });
  const common = options.request ?? {};
  const request = (one: GatewayRequest = {}): GatewayRequest => ({
    ...common,
    ...one,
    path: joined(common.path ?? '', one.path ?? '/'),
    headers: { ...common.headers, ...one.headers },
  });
  return {
    gateway,
    config,
    without,
    request,
    async answer(one) {
      const answer: TestAnswer = await gateway.clock.until(gateway.request(request(one)));
      assert.ok(answer.complete, `the answer with status ${answer.status} was broken off`);
      return answer;
    },
    head(method, path) {
      const lines = Object.entries(common.headers ?? {}).flatMap(([name, value]) =>
        (typeof value === 'string' ? [value] : value).map((each) => `${name}: ${each}\r\n`),
      );
      return `${method} ${joined(common.path ?? '', path)} HTTP/1.1\r\nHost: test.example\r\n${lines.join('')}`;
    },
    async finish() {
      await gateway.clock.settle();
      const { requests = 0, badRequests = 0 } = gateway.numbers();
      await gateway.close();
      const faults = stopWatching();
      assert.deepEqual(faults, [], 'a promise was rejected or an exception thrown, and nothing handled it');
      const failed = gateway.logLines.filter(({ message }) => message.startsWith('plugin failed'));
      assert.deepEqual(
        failed.map(({ fields }) => fields),
        [],
        'the plugin threw an exception',
      );
      checkRecords(gateway.records, requests - badRequests);
      assert.deepEqual(instances.problems(), [], 'each `setup` has one `dispose`');
      assert.deepEqual(Object.keys(Object.prototype), [], 'Object.prototype has got properties');
    },
  };
}

/** Each request has ended once, so the `log` phase has run once. */
function checkRecords(records: readonly Readonly<Record<string, unknown>>[], expected: number): void {
  const ids = records.map((record) => (record['request'] as { readonly id?: string }).id);
  assert.equal(new Set(ids).size, ids.length, 'the log phase ran twice for a request');
  assert.equal(records.length, expected, 'requests without a log phase, or with none that ended');
}

function joined(base: string, path: string): string {
  return base === '' ? path : base.replace(/\/$/, '') + path;
}

/** Counts what the instances of a plugin do. */
class Instances {
  readonly plugin: Plugin;
  readonly #disposals = new Map<number, number>();
  #setups = 0;

  constructor(plugin: Plugin) {
    const setup = (config: unknown, tools: PluginTools) => {
      const phases = plugin.setup(config, tools);
      const serial = ++this.#setups;
      this.#disposals.set(serial, 0);
      const dispose = (): void => {
        this.#disposals.set(serial, (this.#disposals.get(serial) ?? 0) + 1);
        phases.dispose?.();
      };
      // With its own methods and their `this`.
      return Object.assign(Object.create(phases) as typeof phases, { ...phases, dispose });
    };
    this.plugin = Object.create(plugin, { setup: { value: setup, enumerable: true } }) as Plugin;
  }

  problems(): readonly string[] {
    return [...this.#disposals].flatMap(([serial, times]) =>
      times === 1 ? [] : [`instance ${serial} was disposed of ${times} times`],
    );
  }
}

/** Notes what nothing has handled. Returns a function that ends it and returns what was noted. */
function watchProcess(): () => readonly string[] {
  const seen: string[] = [];
  const note = (error: unknown): void => {
    seen.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  };
  process.on('unhandledRejection', note);
  process.on('uncaughtExceptionMonitor', note);
  return () => {
    process.off('unhandledRejection', note);
    process.off('uncaughtExceptionMonitor', note);
    return seen;
  };
}
