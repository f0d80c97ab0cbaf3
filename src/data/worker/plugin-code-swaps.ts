import type { Plugin } from '../../plugin-sdk/define-plugin.ts';
import type { FromWorker, SnapshotFailure } from '../../shared/messages/messages.ts';
import type { CodeObservation, PluginCodeFailure, PluginCodeMessage } from '../../shared/messages/plugin-code.ts';
import { cleanError } from '../../shared/plugin-loader/code/version-url.ts';
import { errorPlace } from '../../shared/plugin-loader/error-place.ts';
import { awaitWithTimeout } from '../../shared/util/time/await-with-timeout.ts';
import type { PluginRegistry } from '../plugin-runner/plugin-registry.ts';
import { SetupFailure } from '../snapshot/plugin-set.ts';
import type { LiveSnapshot } from '../snapshot/snapshot.ts';
import type { WorkerPluginHost } from './plugin-host.ts';

/** Milliseconds for the code to load, which it did in its trial. The swaps that follow wait for it. */
const loadTimeout = 8000;

export interface PluginCodeSwapsOptions {
  readonly registry: PluginRegistry;
  readonly snapshot: LiveSnapshot;
  readonly host: WorkerPluginHost;
  /** Resolves when no change of the config is being applied. What follows in the same turn comes before the next one. */
  readonly settled: () => Promise<void>;
  readonly post: (message: FromWorker) => void;
  readonly observe: (observation: CodeObservation) => void;
}

/**
 * Replaces the code of users' plugins in this worker: loads it, and then exchanges all instances between two requests. Requests in flight
 * finish with the instances that they have.
 */
export class PluginCodeSwaps {
  readonly #options: PluginCodeSwapsOptions;
  /** One swap after the other. */
  #last: Promise<void> = Promise.resolve();
  /** What the last swap has replaced. */
  #before: readonly Plugin[] = [];

  constructor(options: PluginCodeSwapsOptions) {
    this.#options = options;
  }

  receive(message: PluginCodeMessage): Promise<void> {
    this.#last = this.#last.then(() => this.#receive(message));
    return this.#last;
  }

  /** Uses the code from before the last swap again, soon: after the phase that runs. The control plane notices why by itself. */
  returnToOld(): void {
    setImmediate(() => void this.#return());
  }

  async #return(): Promise<void> {
    const { registry, snapshot, settled } = this.#options;
    const plugins = this.#before;
    this.#before = [];
    await settled();
    const undo = registry.replace(plugins);
    try {
      snapshot.replacePlugins(new Set(plugins.map(({ name }) => name)));
    } catch {
      // The control plane sends the old code, and reports what is wrong with it.
      undo();
    }
  }

  async #receive(message: PluginCodeMessage): Promise<void> {
    const { host, snapshot, post } = this.#options;
    host.addZones(message.zones);
    // Other code may return from `setup`.
    host.quarantine.clear();
    const { failure, invalid } = await this.#swap(message);
    if (failure === null) host.dropZones(message.zones);
    // Without a config there is nothing to report.
    if (failure === null && snapshot.version > 0) post({ type: 'ack', version: snapshot.version, failures: invalid });
    post({ type: 'plugin-code-applied', serial: message.serial, failure });
  }

  async #swap({ codes, observation }: PluginCodeMessage): Promise<Swapped> {
    const { registry, snapshot, settled, observe } = this.#options;
    let undo: () => void = () => {};
    try {
      const loading = registry.loadCode(codes);
      if (!(await awaitWithTimeout(loading, loadTimeout))) throw new Error('the code did not finish loading');
      const next = await loading;
      await settled();
      const before = next.flatMap(({ name }) => registry.plugins.get(name) ?? []);
      undo = registry.replace(next);
      const invalid = snapshot.replacePlugins(new Set(next.map(({ name }) => name)));
      this.#before = before;
      if (observation !== undefined) observe(observation);
      return { failure: null, invalid };
    } catch (error) {
      undo();
      return { failure: failureOf(error), invalid: [] };
    }
  }
}

interface Swapped {
  /** Why nothing was replaced; null: all was. */
  readonly failure: PluginCodeFailure | null;
  /** All entities that are invalid now. */
  readonly invalid: readonly SnapshotFailure[];
}

function failureOf(error: unknown): PluginCodeFailure {
  const [plugin, cause] = error instanceof SetupFailure ? [error.plugin, error.cause] : ['', error];
  const [message = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return { plugin, message, ...(errorPlace(cleanError(cause)) ?? { file: null, line: null, column: null }) };
}
