/**
 * The state of each running worker, in shared memory: the last heartbeat of its event loop, and its current plugin
 * call. The control plane and the readiness probe read it without a message to the worker, which may be blocked.
 *
 * A row for the node, then one for each worker. Every row is 128 bytes: whole cache lines, so that no thread's writes
 * slow down another's.
 */
const slotsPerRow = 16;
const rowBytes = slotsPerRow * Float64Array.BYTES_PER_ELEMENT;

/** Positions in a worker's row. */
export const Vital = Object.freeze({
  /** The last iteration of the event loop, on the clock that all threads share (`sharedClock`), in milliseconds. */
  beat: 0,
  /** A `WorkerState`; written by the control plane. */
  state: 1,
  /** A `PluginPhase`; 0: no plugin call. */
  phase: 2,
  /** `entityMark` of the plugin instance and of the route of the last call of a plugin. */
  instance: 3,
  route: 4,
  /** Bytes of heap in use at the last heartbeat. */
  heapUsed: 5,
  /** Delay of the event loop in the last interval of `loopDelayBeats`, 99th percentile, in milliseconds. */
  loopDelay: 6,
});

/** Positions in the node's row. */
const NodeVital = Object.freeze({
  beat: 0,
  stopping: 1,
  emptyConfig: 2,
  withoutConfig: 3,
  oldConfig: 4,
  calledAt: 5,
  /** The normal priority and `priorityOffset`; 0: it is not lowered. */
  loweredFrom: 6,
});
/** Priorities are -20 to 19. */
const priorityOffset = 21;

export const WorkerState = Object.freeze({ absent: 0, starting: 1, listening: 2 });

/** Calls of plugins; the names are those of the plugin contract. */
export const PluginPhase = Object.freeze({
  setup: 1,
  dispose: 2,
  certificate: 3,
  rewrite: 4,
  access: 5,
  shouldBufferResponse: 6,
  response: 7,
  headerFilter: 8,
  bodyFilter: 9,
  backendAnswer: 10,
  backendFailure: 11,
  log: 12,
  accept: 13,
  streamLog: 14,
});

export type PluginPhaseName = keyof typeof PluginPhase;

/** Milliseconds between two heartbeats of a worker. */
export const beatInterval = 200;

/** Heartbeats between two values of the delay of the event loop. */
export const loopDelayBeats = 25;

/** The last known plugin call of a worker. */
export interface PluginCall {
  readonly phase: PluginPhaseName | null;
  readonly instance: number;
  readonly route: number;
}

/** Shared memory with `workers` rows, before the first heartbeat. */
export function createVitals(workers: number): SharedArrayBuffer {
  return new SharedArrayBuffer((workers + 1) * rowBytes);
}

/** The row of one worker, for that worker to write. */
export function workerVitals(memory: SharedArrayBuffer, worker: number): Float64Array {
  return new Float64Array(memory, (worker + 1) * rowBytes, slotsPerRow);
}

/** A number for an entity's id that threads can exchange through shared memory: the first 48 bits of the UUID. */
export function entityMark(id: string): number {
  const mark = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  return Number.isNaN(mark) ? 0 : mark;
}

const phaseNames = new Map<number, PluginPhaseName>(
  Object.entries(PluginPhase).map(([name, code]) => [code, name as PluginPhaseName]),
);

/** Reads the vitals of all workers, and writes the row of the control plane. */
export class NodeVitals {
  readonly #node: Float64Array;
  readonly #workers: readonly Float64Array[];

  constructor(memory: SharedArrayBuffer) {
    this.#node = new Float64Array(memory, 0, slotsPerRow);
    const count = memory.byteLength / rowBytes - 1;
    this.#workers = Array.from({ length: count }, (_, worker) => workerVitals(memory, worker));
  }

  get workers(): number {
    return this.#workers.length;
  }

  /** The last iteration of the control plane's event loop, on the shared clock; 0: not started. */
  get controlPlaneBeat(): number {
    return this.#node[NodeVital.beat]!;
  }

  set controlPlaneBeat(time: number) {
    this.#node[NodeVital.beat] = time;
  }

  /** Whether the node was asked to stop: it still serves for a while, but load balancers should stop using it. */
  get stopping(): boolean {
    return this.#node[NodeVital.stopping] === 1;
  }

  set stopping(value: boolean) {
    this.#node[NodeVital.stopping] = value ? 1 : 0;
  }

  /** Whether a node without a database has no config: it has received no document, or an empty one. */
  get emptyConfig(): boolean {
    return this.#node[NodeVital.emptyConfig] === 1;
  }

  set emptyConfig(value: boolean) {
    this.#node[NodeVital.emptyConfig] = value ? 1 : 0;
  }

  /** Whether a data plane waits for its first config. */
  get withoutConfig(): boolean {
    return this.#node[NodeVital.withoutConfig] === 1;
  }

  set withoutConfig(value: boolean) {
    this.#node[NodeVital.withoutConfig] = value ? 1 : 0;
  }

  /** Whether the node waits for the database or a control plane, because its config is the last good one and may be old. */
  get oldConfig(): boolean {
    return this.#node[NodeVital.oldConfig] === 1;
  }

  set oldConfig(value: boolean) {
    this.#node[NodeVital.oldConfig] = value ? 1 : 0;
  }

  /** When a worker last called the control plane, on the shared clock; 0: never. */
  get calledAt(): number {
    return this.#node[NodeVital.calledAt]!;
  }

  set calledAt(time: number) {
    this.#node[NodeVital.calledAt] = time;
  }

  /** Normal priority of the control plane's thread while it has a lower one; null while it has the normal one. */
  get loweredFrom(): number | null {
    const stored = this.#node[NodeVital.loweredFrom]!;
    return stored === 0 ? null : stored - priorityOffset;
  }

  set loweredFrom(normal: number | null) {
    this.#node[NodeVital.loweredFrom] = normal === null ? 0 : normal + priorityOffset;
  }

  beat(worker: number): number {
    return this.#workers[worker]![Vital.beat]!;
  }

  heapUsed(worker: number): number {
    return this.#workers[worker]![Vital.heapUsed]!;
  }

  /** Milliseconds, 99th percentile. */
  loopDelay(worker: number): number {
    return this.#workers[worker]![Vital.loopDelay]!;
  }

  state(worker: number): number {
    return this.#workers[worker]![Vital.state]!;
  }

  /** A worker starts, listens or has ended. Its predecessor's values are cleared when it starts. */
  setState(worker: number, state: number): void {
    const row = this.#workers[worker]!;
    if (state === WorkerState.starting) row.fill(0);
    row[Vital.state] = state;
  }

  /** The current plugin call of the worker, or its last one. */
  pluginCall(worker: number): PluginCall {
    const row = this.#workers[worker]!;
    return {
      phase: phaseNames.get(row[Vital.phase]!) ?? null,
      instance: row[Vital.instance]!,
      route: row[Vital.route]!,
    };
  }
}
