import { execFile } from 'node:child_process';

/** Milliseconds for one message: the sender waits until the service manager has read it. */
const sendTimeout = 10_000;
/** The interval of watchdog messages as a fraction of the time after which systemd restarts the service. */
const pingFraction = 1 / 3;

export interface ServiceManagerOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reports the first message that cannot be sent. */
  readonly warn: (message: string) => void;
}

/**
 * Tells systemd about the state of the node (`sd_notify`, `Type=notify`). Its socket takes datagrams, which Node cannot send to a
 * path, so each message is sent by `systemd-notify`, which is part of systemd; the unit needs `NotifyAccess=all`. Does nothing
 * without `NOTIFY_SOCKET`.
 */
export class ServiceManager {
  readonly #options: ServiceManagerOptions;
  readonly #enabled: boolean;
  #last: Promise<void> = Promise.resolve();
  #warned = false;
  #watchdog: NodeJS.Timeout | null = null;
  #pinging = false;

  constructor(options: ServiceManagerOptions) {
    this.#options = options;
    this.#enabled = (options.env['NOTIFY_SOCKET'] ?? '') !== '';
  }

  /** The node listens. This process is the one that systemd watches, also after an upgrade. */
  ready(): void {
    this.#send(`MAINPID=${process.pid}`, 'READY=1');
  }

  /** The settings are read again; `ready` follows. */
  reloading(): void {
    this.#send('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
  }

  stopping(): void {
    this.#send('STOPPING=1');
  }

  /** Sends `WATCHDOG=1` at intervals while the node is alive; this thread must be alive to ask. */
  watch(isAlive: () => boolean): void {
    const timeout = watchdogTimeout(this.#options.env);
    if (!this.#enabled || timeout === null) return;
    const ping = (): void => {
      if (this.#pinging || !isAlive()) return;
      this.#pinging = true;
      void this.#run(['WATCHDOG=1']).finally(() => {
        this.#pinging = false;
      });
    };
    ping();
    this.#watchdog = setInterval(ping, timeout * pingFraction).unref();
  }

  /** Another process is the node: systemd watches that one. Resolves when the last message is sent. */
  async close(): Promise<void> {
    if (this.#watchdog !== null) clearInterval(this.#watchdog);
    this.#watchdog = null;
    await this.#last;
  }

  /** In order, after the messages before it. */
  #send(...lines: readonly string[]): void {
    if (this.#enabled) this.#last = this.#last.then(() => this.#run(lines));
  }

  #run(lines: readonly string[]): Promise<void> {
    const { NOTIFY_SOCKET = '', PATH = '/usr/bin:/bin' } = this.#options.env;
    return new Promise((resolve) => {
      const options = { env: { NOTIFY_SOCKET, PATH }, timeout: sendTimeout };
      execFile('systemd-notify', [...lines], options, (error) => {
        if (error !== null && !this.#warned) {
          this.#warned = true;
          this.#options.warn(`systemd cannot be notified (systemd-notify): ${error.message.trim()}`);
        }
        resolve();
      });
    });
  }
}

/** Milliseconds after which systemd restarts the service without a message; null: it does not, or watches another process. */
function watchdogTimeout({ WATCHDOG_USEC, WATCHDOG_PID }: Readonly<Record<string, string | undefined>>): number | null {
  if (WATCHDOG_PID !== undefined && WATCHDOG_PID !== String(process.pid)) return null;
  const microseconds = Number(WATCHDOG_USEC);
  return Number.isSafeInteger(microseconds) && microseconds > 0 ? microseconds / 1000 : null;
}
