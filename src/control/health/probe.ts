import type { Socket } from 'node:net';
import { localResourceErrors } from '../../shared/util/process/local-resource-errors.ts';

/** The result of a probe. */
export type ProbeResult =
  | { readonly kind: 'success' }
  /** An HTTP answer; the lists of statuses decide. */
  | { readonly kind: 'status'; readonly status: number }
  /** An answer that is not readable, or that reports the service as down. */
  | { readonly kind: 'http-failure'; readonly cause: string }
  | { readonly kind: 'tcp-failure'; readonly cause: string }
  | { readonly kind: 'timeout'; readonly cause: string }
  /** The probe could not be sent, which says nothing about the target. */
  | { readonly kind: 'not-made'; readonly cause: string };

/** The target and the options of a probe. */
export interface ProbeTarget {
  readonly ip: string;
  readonly port: number;
  /** The host of the target, or its IP without brackets. */
  readonly host: string;
  /** Value of `Host` or `:authority`. */
  readonly authority: string;
  /** Milliseconds for each step. */
  readonly timeout: number;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Null: in plain text. */
  readonly tls: ProbeTls | null;
}

export interface ProbeTls {
  /** Name for SNI and verification; an IP is verified, but never sent as SNI. */
  readonly name: string;
  readonly verify: boolean;
  /** PEM of the authorities trusted; null: Node's own. */
  readonly ca: string | null;
  /** Sent to targets that request it. */
  readonly client: { readonly cert: string; readonly key: string } | null;
}

/** Maximum that is read after the result is known: bytes, milliseconds. */
const answerCap = 64 * 1024;
const lingering = 1000;

/**
 * One probe: it settles once, each step has a deadline, and the socket is closed afterwards. When a timer fires late, after a pause
 * of the event loop, received data is read first.
 */
export class ProbeRun {
  readonly #settle: (result: ProbeResult) => void;
  readonly #timeout: number;
  readonly #cleanups: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;
  #step = 0;
  #settled = false;

  constructor(timeout: number, settle: (result: ProbeResult) => void) {
    this.#timeout = timeout;
    this.#settle = settle;
  }

  get settled(): boolean {
    return this.#settled;
  }

  /** The time of the next step begins. `name`: `no connection`, as part of the cause of a timeout. */
  step(name: string): void {
    if (this.#settled) return;
    const step = ++this.#step;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      setImmediate(() => {
        if (step === this.#step) this.end({ kind: 'timeout', cause: `${name} within ${this.#timeout} ms` });
      });
    }, this.#timeout);
  }

  /** Called when the probe is over, the last first. */
  cleanup(work: () => void): void {
    if (this.#settled) work();
    else this.#cleanups.push(work);
  }

  end(result: ProbeResult): void {
    if (this.#conclude(result)) this.#clean();
  }

  /** The same, but the target can finish writing its answer: some log every aborted connection. */
  endReading(result: ProbeResult, socket: Socket): void {
    if (!this.#conclude(result)) return;
    let left = answerCap;
    const stop = (): void => {
      clearTimeout(timer);
      this.#clean();
    };
    const timer = setTimeout(stop, lingering).unref();
    socket.on('data', (piece: Buffer | string) => {
      left -= piece.length;
      if (left < 0) stop();
    });
    socket.on('end', stop);
    socket.on('close', stop);
  }

  #conclude(result: ProbeResult): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#step++;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#settle(result);
    return true;
  }

  #clean(): void {
    for (const work of this.#cleanups.splice(0).reverse()) work();
  }

  failed(error: NodeJS.ErrnoException): void {
    this.end({ kind: localResourceErrors.has(error.code ?? '') ? 'not-made' : 'tcp-failure', cause: causeOf(error) });
  }
}

/** The socket of a probe; its failures are those of the probe. */
export function watch(run: ProbeRun, socket: Socket): void {
  socket.on('error', (error) => run.failed(error));
  socket.on('close', () => run.end({ kind: 'tcp-failure', cause: 'the connection was closed without an answer' }));
}

function causeOf(error: Error): string {
  const code = (error as NodeJS.ErrnoException).code;
  return code === undefined || error.message.includes(code) ? error.message : `${error.message} (${code})`;
}
