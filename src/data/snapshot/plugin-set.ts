import { isDeepStrictEqual } from 'node:util';
import type { AccessContext } from '../../plugin-sdk/contexts.ts';
import type { Plugin } from '../../plugin-sdk/define-plugin.ts';
import { type Reply, refuse } from '../../plugin-sdk/reply.ts';
import type { TraceNeeds } from '../../plugin-sdk/trace.ts';
import type { Row } from '../../shared/entities/entity.ts';
import { foreignId, isEnabled, text, texts } from '../../shared/entities/row-fields.ts';
import { errorPlace, placeText } from '../../shared/plugin-loader/error-place.ts';
import { failureMessage } from '../../shared/plugin-loader/failure-fields.ts';
import { hasRequestProtocol } from '../../shared/plugin-plan/precedence.ts';
import { privateMeter } from '../../shared/zones/plugin-meter.ts';
import { entityMark, PluginPhase } from '../../shared/zones/worker-vitals.ts';
import { createInstance, type PluginHost, retireInstance } from '../plugin-runner/instances.ts';
import type { PluginInstance, PluginPlan } from '../plugin-runner/plan.ts';
import { PlanBuilder, type PlanEntry } from '../plugin-runner/plan-builder.ts';
import { reportFailure } from '../plugin-runner/report-failure.ts';
import { type TraceRule, traceRule } from '../plugin-runner/trace-rule.ts';
import type { PlanEpoch, PlanSource } from './build-route.ts';
import { appliesToStreams } from './build-stream-route.ts';

interface Entry {
  readonly row: Row;
  readonly instance: PluginInstance;
  readonly broken: boolean;
}

interface Created {
  readonly instance: PluginInstance;
  readonly failure: Error | null;
}

/** An instance could not be set up with other code of its plugin; `cause` is what `setup` threw. */
export class SetupFailure extends Error {
  readonly plugin: string;

  constructor(plugin: string, instance: string, cause: Error) {
    super(`plugin '${plugin}' cannot set up instance ${instance}: ${failureMessage(cause.cause ?? cause)}`, { cause });
    this.plugin = plugin;
  }
}

/** The plugin instances of a snapshot. An instance lives, with all its state, until its row changes. */
export class PluginSet implements PlanSource {
  readonly epoch: PlanEpoch = { value: 0 };
  readonly builder = new PlanBuilder();
  /** Plans of stream routes: as in Kong, an instance runs on streams only if its `protocols` contain one of theirs. */
  readonly streams: PlanSource = { epoch: this.epoch, builder: new PlanBuilder() };
  readonly #plugins: ReadonlyMap<string, Plugin>;
  readonly #host: PluginHost;
  readonly #entries = new Map<string, Entry>();
  /** Ids of the instances that need the certificates of TLS clients. */
  readonly #certificateReaders = new Set<string>();
  readonly #tracers = new Map<string, TraceNeeds>();
  #tracing: TraceRule | null = null;
  /** Instances that the next upserts of their rows use. */
  readonly #prepared = new Map<Row, Created>();

  constructor(plugins: ReadonlyMap<string, Plugin>, host: PluginHost) {
    this.#plugins = plugins;
    this.#host = host;
  }

  get globalPlan(): PluginPlan {
    return this.builder.globalPlan;
  }

  get wantsClientCertificates(): boolean {
    return this.#certificateReaders.size > 0;
  }

  get tracing(): TraceRule | null {
    return this.#tracing;
  }

  ids(): Iterable<string> {
    return this.#entries.keys();
  }

  /** Sets instances up, one in each step, for the upserts of these rows that follow. */
  *prepare(rows: readonly Row[]): Generator<void> {
    for (const row of rows) {
      if (isEnabled(row) && !this.#isCurrent(row)) this.#prepared.set(row, this.#create(row));
      yield;
    }
  }

  /** The upserts do not follow. */
  dropPrepared(): void {
    for (const { instance, failure } of this.#prepared.values()) if (failure === null) retireInstance(instance);
    this.#prepared.clear();
  }

  /**
   * Sets up all instances of these plugins again, with the code that the plugins have now, and exchanges them at once. Throws a
   * `SetupFailure` when one of them cannot be set up that could be before: then nothing is exchanged. Returns the ids of
   * the instances that work.
   */
  replacePlugins(names: ReadonlySet<string>): readonly string[] {
    const rows = [...this.#entries.values()].filter(({ instance }) => names.has(instance.name));
    const created = rows.map(({ row, broken }) => {
      const next = this.#create(row);
      return { row, next, lost: broken ? null : next.failure };
    });
    const failed = created.find(({ lost }) => lost !== null);
    if (failed?.lost != null) {
      for (const { next } of created) if (next.failure === null) retireInstance(next.instance);
      throw new SetupFailure(failed.next.instance.name, failed.row.id, failed.lost);
    }
    // One that could not be set up before may still fail.
    const working = created.filter(({ next }) => next.failure === null);
    for (const { row, next } of working) {
      this.#prepared.set(row, next);
      this.upsert(row);
    }
    return working.map(({ row }) => row.id);
  }

  /** Throws when the instance cannot be set up; requests in its scope are rejected until the row is fixed. */
  upsert(row: Row): void {
    const old = this.#entries.get(row.id);
    const prepared = this.#prepared.get(row);
    if (prepared === undefined && this.#isCurrent(row)) return;
    if (!isEnabled(row)) {
      this.remove(row.id);
      return;
    }
    const { instance, failure } = prepared ?? this.#create(row);
    this.#prepared.delete(row);
    this.#entries.set(row.id, { row, instance, broken: failure !== null });
    if (instance.needs.clientCertificate === true) this.#certificateReaders.add(row.id);
    else this.#certificateReaders.delete(row.id);
    this.#setTracer(row.id, instance.needs.trace ?? null);
    const scope = {
      routeId: foreignId(row, 'route'),
      serviceId: foreignId(row, 'service'),
      consumerId: foreignId(row, 'consumer'),
    };
    replaceIn(this.builder, hasRequestProtocol(texts(row, 'protocols') ?? []) ? { ...scope, instance } : null, row.id);
    replaceIn(this.streams.builder, appliesToStreams(row) ? { ...scope, instance } : null, row.id);
    this.epoch.value++;
    if (old !== undefined) retire(old);
    if (failure !== null) throw failure;
  }

  remove(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    this.#certificateReaders.delete(id);
    this.#setTracer(id, null);
    this.builder.remove(id);
    this.streams.builder.remove(id);
    this.epoch.value++;
    retire(entry);
  }

  #setTracer(id: string, needs: TraceNeeds | null): void {
    if (needs !== null) this.#tracers.set(id, needs);
    else if (!this.#tracers.delete(id)) return;
    this.#tracing = traceRule([...this.#tracers.values()], this.#host.settings.tracing.samplingRate);
  }

  /** Resolves when every instance has delivered its queued data, or after so many milliseconds. */
  async drain(timeout: number): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeout);
    const all = [...this.#entries.values()].map(({ instance }) => drained(instance));
    await Promise.race([Promise.all(all), late]);
    clearTimeout(timer);
  }

  /** Disposes of every instance; nothing runs any more. */
  close(): void {
    for (const id of [...this.#entries.keys()]) this.remove(id);
  }

  #isCurrent(row: Row): boolean {
    const entry = this.#entries.get(row.id);
    return entry !== undefined && !entry.broken && isDeepStrictEqual(entry.row, row);
  }

  #create(row: Row): Created {
    const name = text(row, 'name') ?? '';
    const config = (row['config'] ?? {}) as Readonly<Record<string, unknown>>;
    try {
      return { instance: createInstance(this.#plugins, { id: row.id, name, config }, this.#host), failure: null };
    } catch (error) {
      const instance = brokenInstance(row.id, name, this.#host, error);
      return { instance, failure: setupFailure(instance, error) };
    }
  }
}

/** One line with the place in the code of the plugin, if the plugin threw. */
function setupFailure({ meter }: PluginInstance, error: unknown): Error {
  const place = errorPlace(error);
  if (place !== null) meter.failed(PluginPhase.setup);
  const message = failureMessage(error);
  return new Error(place === null ? message : `${message} (${placeText(place)})`, { cause: error });
}

async function drained(instance: PluginInstance): Promise<void> {
  try {
    await instance.phases.drain?.();
  } catch (error) {
    reportFailure(instance, 'drain', error);
  }
}

function replaceIn(builder: PlanBuilder, entry: PlanEntry | null, id: string): void {
  if (entry === null) builder.remove(id);
  else builder.upsert(entry);
}

function retire(entry: Entry): void {
  if (!entry.broken) retireInstance(entry.instance);
}

/**
 * Replaces an instance that could not be set up. Omitting it would open what an authentication or restriction plugin
 * was to protect, so it rejects requests; like any instance, only within its scope.
 */
function brokenInstance(id: string, name: string, host: PluginHost, failure: unknown): PluginInstance {
  const { development } = host;
  const shown = ({ request }: AccessContext): Reply | undefined => {
    const asker = { accept: request.header('accept'), host: request.host };
    return development?.failed({ plugin: name, title: 'failed in setup' }, failure, asker);
  };
  const refused = (): Reply => refuse(500, 'An unexpected error occurred');
  return {
    id,
    name,
    priority: Number.MAX_SAFE_INTEGER,
    phases: { access: development === undefined ? refused : shown, accept: () => false },
    needs: {},
    log: host.log,
    meter: host.meter?.(name) ?? privateMeter(),
    budget: null,
    lease: null,
    mark: entityMark(id),
  };
}
