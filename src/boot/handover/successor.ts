import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { awaitWithTimeout } from '../../shared/util/time/await-with-timeout.ts';
import { zoneFormat } from '../../shared/zones/zone-transfer.ts';
import { version } from '../../version.ts';
import type { InheritedSocket } from '../listeners/inherited-sockets.ts';
import {
  answerTimeout,
  areParcels,
  handoverFormat,
  predecessorVariable,
  type ToPredecessor,
  type ToSuccessor,
  type UnhealthyAddress,
} from './messages.ts';
import type { ZoneExchange } from './zone-exchange.ts';

/** What a running node gives to the process that replaces it. */
export interface Estate {
  /** Their descriptors are those of this process. */
  readonly sockets: readonly InheritedSocket[];
  readonly debugToken: string | null;
  readonly ticketKeys: Uint8Array;
  readonly unhealthy: () => readonly UnhealthyAddress[];
  readonly exchange: ZoneExchange;
}

export interface SuccessorOptions {
  readonly estate: Estate;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called when the new process accepts: releases the prefix. */
  readonly release: () => void;
  /** Milliseconds until the new process has to be ready. */
  readonly timeout: number;
}

/** Milliseconds in which a process that has failed or is abandoned has to end. */
const endLimit = 3_000;
/** Standard streams and the channel come first. */
const firstDescriptor = 4;

/**
 * A new process on the sockets of this one. They are the same sockets, not others on the same ports: what waits in their
 * queues is accepted by either process.
 */
export class Successor {
  readonly pid: number | null;
  readonly #child: ChildProcess;
  readonly #options: SuccessorOptions;
  readonly #takenOver = Promise.withResolvers<void>();
  readonly #exited: Promise<void>;
  #handedOver = false;

  /** Starts the process with the arguments of this one: its script may be another version by now. */
  constructor(options: SuccessorOptions) {
    this.#options = options;
    const { estate, env } = options;
    const [script = '', ...args] = process.argv.slice(1);
    this.#child = spawn(process.execPath, [...process.execArgv, script, ...args], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...estate.sockets.map(({ descriptor }) => descriptor)],
      env: { ...env, [predecessorVariable]: String(process.pid) },
      serialization: 'advanced',
    });
    this.pid = this.#child.pid ?? null;
    this.#takenOver.promise.catch(() => {});
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#fail(`the new process ended with ${signal ?? `exit code ${code}`} before it was ready`);
        resolve();
      });
      this.#child.once('error', (error) => {
        this.#fail(`the new process cannot be started: ${error.message}`);
        resolve();
      });
    });
    this.#child.on('message', (message) => this.#receive(message as ToPredecessor));
    this.#child.unref();
    const sockets = estate.sockets.map((socket, at) => ({ ...socket, descriptor: firstDescriptor + at }));
    const { debugToken, ticketKeys } = estate;
    this.#send({ type: 'welcome', format: handoverFormat, version, sockets, debugToken, ticketKeys });
  }

  /**
   * Resolves when the new process is the node. Rejects with the reason when it is not ready in time; then it has been
   * ended, and nothing has changed.
   */
  async takesOver(): Promise<void> {
    const { timeout } = this.#options;
    const late = setTimeout(() => this.#fail(`the new process was not ready within ${timeout / 1000} s`), timeout);
    try {
      await this.#takenOver.promise;
    } catch (error) {
      await this.#end();
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  /** Ends the new process: this one stops, or is to continue. Nothing happens once it has taken over. */
  abandon(reason: string): void {
    this.#fail(reason);
  }

  /** Everything that this process wrote is in the store. */
  released(): void {
    this.#send({ type: 'released' });
  }

  /** This process has finished its requests. */
  close(): void {
    const { exchange } = this.#options.estate;
    const zones = exchange.changes();
    if (zones.length > 0) this.#send({ type: 'changes', zones });
    exchange.stop();
    if (this.#child.connected) this.#child.disconnect();
  }

  #receive(message: ToPredecessor): void {
    const { estate, release } = this.#options;
    switch (message?.type) {
      case 'get-counters': {
        const zones = estate.exchange.begin();
        const { omitted } = estate.exchange;
        this.#send({ type: 'counters', format: zoneFormat, zones, unhealthy: estate.unhealthy(), omitted });
        break;
      }
      case 'changes':
        if (areParcels(message.zones)) estate.exchange.merge(message.zones);
        break;
      case 'ready':
        if (this.#handedOver) break;
        this.#handedOver = true;
        estate.exchange.start((zones) => this.#send({ type: 'changes', zones }));
        release();
        this.#send({ type: 'take-over' });
        void wait(answerTimeout, null, { ref: false }).then(() => this.#fail('the new process did not take over'));
        break;
      case 'taken-over':
        this.#takenOver.resolve();
        break;
      case 'failed':
        this.#fail(String(message.reason));
        break;
    }
  }

  #fail(reason: string): void {
    this.#takenOver.reject(new Error(reason));
  }

  async #end(): Promise<void> {
    this.#options.estate.exchange.stop();
    this.#send({ type: 'abandon' });
    this.#child.kill('SIGTERM');
    if (await awaitWithTimeout(this.#exited, endLimit)) return;
    this.#child.kill('SIGKILL');
    await awaitWithTimeout(this.#exited, endLimit);
  }

  #send(message: ToSuccessor): void {
    if (this.#child.connected) this.#child.send(message, undefined, undefined, () => {});
  }
}
