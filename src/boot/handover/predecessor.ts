import type { NamedZone } from '../../shared/zones/zone-registry.ts';
import { zoneFormat } from '../../shared/zones/zone-transfer.ts';
import {
  answerTimeout,
  areParcels,
  handoverFormat,
  isCounters,
  isWelcome,
  predecessorVariable,
  type ToPredecessor,
  type UnhealthyAddress,
  type Welcome,
  type ZoneParcel,
} from './messages.ts';
import { ZoneExchange } from './zone-exchange.ts';

/** Log of the process that takes over. */
export interface HandoverLog {
  log(level: 'notice' | 'warn', message: string, fields?: Readonly<Record<string, unknown>>): void;
}

type Waiting = { readonly accepts: (message: unknown) => boolean; readonly resolve: (message: unknown) => void };

/** The running node that this process replaces. It has started this process and talks to it over a private channel. */
export class Predecessor {
  readonly welcome: Welcome;
  /** Aborted when the old process ends the attempt. */
  readonly abandoned: AbortSignal;
  readonly #abandon: AbortController;
  readonly #waiting = new Set<Waiting>();
  readonly #gone = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();
  #parcels = new Map<string, ZoneParcel>();
  #unhealthy: readonly UnhealthyAddress[] = [];
  readonly #exchange = new ZoneExchange(() => []);

  /** Null: no process is replaced. Rejects when the other process has another version of the handover. */
  static async connect(env: NodeJS.ProcessEnv): Promise<Predecessor | null> {
    const from = env[predecessorVariable];
    delete env[predecessorVariable];
    if (from === undefined || Number(from) !== process.ppid || process.send === undefined) return null;
    const controller = new AbortController();
    const first = await new Promise<unknown>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the process to replace does not answer')), answerTimeout);
      process.once('message', (message) => {
        clearTimeout(timer);
        resolve(message);
      });
      process.once('disconnect', () => reject(new Error('the process to replace has ended')));
    });
    if (!isWelcome(first)) throw new Error('the process to replace sent a handover that is not valid');
    if (first.format !== handoverFormat) {
      const reason = `the running version ${first.version} hands over in format ${first.format}, this one needs ${handoverFormat}: restart instead`;
      process.send({ type: 'failed', reason } satisfies ToPredecessor);
      throw new Error(reason);
    }
    return new Predecessor(first, controller);
  }

  private constructor(welcome: Welcome, abandon: AbortController) {
    this.welcome = welcome;
    this.#abandon = abandon;
    this.abandoned = abandon.signal;
    process.on('message', this.#receive);
    process.once('disconnect', () => {
      this.#gone.resolve();
      this.#released.resolve();
      this.#exchange.stop();
    });
    // The channel alone must not keep the process running.
    process.channel?.unref();
  }

  /** Resolves when the old process has closed its Admin API, or has ended. */
  get released(): Promise<void> {
    return this.#released.promise;
  }

  /** Requests the counters. Call it before zones are created, as late as possible. */
  async fetchCounters(log: HandoverLog): Promise<void> {
    this.#send({ type: 'get-counters' });
    const counters = await this.#answer(isCounters, answerTimeout);
    if (counters === null) {
      log.log('warn', 'the counters of the old process were not received; limits and circuits begin empty');
      return;
    }
    const { format, zones, unhealthy, omitted } = counters;
    this.#unhealthy = unhealthy;
    if (format !== zoneFormat) {
      log.log('notice', 'the counters of the old process have another format; limits and circuits begin empty');
      return;
    }
    if (omitted > 0) log.log('notice', 'zones were too large to be handed over and begin empty', { zones: omitted });
    this.#parcels = new Map(zones.map((parcel) => [parcel.key, parcel]));
  }

  /** Addresses that the old process does not use. */
  get unhealthy(): readonly UnhealthyAddress[] {
    return this.#unhealthy;
  }

  /** Fills a zone that was just created. */
  restore({ key, memory }: Pick<NamedZone, 'key' | 'memory'>, log: HandoverLog): void {
    const parcel = this.#parcels.get(key);
    this.#parcels.delete(key);
    if (parcel === undefined || this.#exchange.restore(parcel, memory)) return;
    log.log('notice', 'the counters of a zone do not fit this version; it begins empty', { zone: key });
  }

  /** This process accepts. Resolves when it can take the prefix. */
  async takeOver(): Promise<void> {
    this.#parcels.clear();
    this.#exchange.start((zones) => this.#send({ type: 'changes', zones }));
    this.#send({ type: 'ready' });
    // Without an answer the old process has crashed, and has released the prefix.
    await this.#answer((message): message is unknown => typeOf(message) === 'take-over', answerTimeout);
    if (this.abandoned.aborted) throw new Error('the upgrade was cancelled');
  }

  /** This process is the node now. */
  takenOver(): void {
    this.#send({ type: 'taken-over' });
  }

  fail(reason: string): void {
    this.#send({ type: 'failed', reason });
  }

  readonly #receive = (message: unknown): void => {
    const type = typeOf(message);
    if (type === 'abandon') this.#abandon.abort(new Error('the upgrade was cancelled'));
    else if (type === 'released') this.#released.resolve();
    else if (type === 'changes') {
      const { zones } = message as { readonly zones?: unknown };
      if (areParcels(zones)) this.#exchange.merge(zones);
    }
    for (const waiting of [...this.#waiting]) if (waiting.accepts(message)) waiting.resolve(message);
  };

  /** Null: no answer in time, or the process has ended. */
  async #answer<T>(accepts: (message: unknown) => message is T, timeout: number): Promise<T | null> {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const waiting: Waiting = { accepts, resolve };
    this.#waiting.add(waiting);
    const timer = setTimeout(() => resolve(null), timeout);
    const stop = (): void => resolve(null);
    this.abandoned.addEventListener('abort', stop);
    try {
      return (await Promise.race([promise, this.#gone.promise.then(() => null)])) as T | null;
    } finally {
      clearTimeout(timer);
      this.abandoned.removeEventListener('abort', stop);
      this.#waiting.delete(waiting);
    }
  }

  #send(message: ToPredecessor): void {
    if (process.connected) process.send?.(message, undefined, undefined, () => {});
  }
}

function typeOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'type' in message ? message.type : null;
}
