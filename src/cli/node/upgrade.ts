import type { Successor } from '../../boot/handover/successor.ts';
import type { Gateway } from '../../gateway.ts';
import type { CommandContext } from '../command.ts';
import { writeOutcome } from './outcome-file.ts';
import type { PrefixClaim } from './prefix-claim.ts';

export interface UpgradeOptions {
  readonly context: Pick<CommandContext, 'env'>;
  readonly prefix: string;
  /** `upgrade_timeout` */
  readonly timeout: number;
  readonly claim: PrefixClaim;
  readonly say: (message: string) => void;
}

/** Variables that are meant for this process alone. */
const own = ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES', 'WATCHDOG_PID'];

/** Replaces the running process by a new one on the same sockets, one attempt at a time. */
export class Upgrade {
  readonly #options: UpgradeOptions;
  readonly #taken = Promise.withResolvers<Successor>();
  #running: Successor | null = null;
  #attempt: Promise<string | null> | null = null;
  #stopping = false;
  #done = false;

  /** Milliseconds until a new process has to be ready. */
  timeout: number;

  constructor(options: UpgradeOptions) {
    this.#options = options;
    this.timeout = options.timeout;
  }

  /** Whether another process is the node. */
  get done(): boolean {
    return this.#done;
  }

  /** Resolves when another process is the node. */
  get taken(): Promise<Successor> {
    return this.#taken.promise;
  }

  /**
   * Starts the new process, unless one is starting already. Resolves to null when it has taken over, else to the reason why it has
   * not. The outcome is logged, and written for the command that waits for it.
   */
  async begin(gateway: Gateway | null): Promise<string | null> {
    const refusal = this.refusal(gateway);
    if (gateway === null || refusal !== null) {
      this.#report(gateway, false, `upgrade refused: ${refusal}`);
      return refusal;
    }
    this.#attempt ??= this.#run(gateway);
    const attempt = this.#attempt;
    const outcome = await attempt;
    if (outcome !== null && this.#attempt === attempt) this.#attempt = null;
    return outcome;
  }

  /** The node stops: ends a new process that has not taken over. Resolves when it has ended. */
  async cancel(): Promise<void> {
    this.#stopping = true;
    this.#running?.abandon('the node is stopping');
    await this.#attempt;
  }

  /** Why no new process can be started now; null: one can. */
  refusal(gateway: Gateway | null): string | null {
    if (this.#stopping) return 'the node is stopping';
    if (gateway === null) return 'the node is still starting';
    // Its end would end the container.
    if (process.pid === 1)
      return 'it runs as process 1 of a container, which ends with it; replace the container instead';
    return process.platform === 'win32' ? 'sockets cannot be handed over on Windows' : null;
  }

  async #run(gateway: Gateway): Promise<string | null> {
    const { claim } = this.#options;
    try {
      const successor = await this.#start(gateway);
      await successor.takesOver();
      this.#report(gateway, true, `upgrade: process ${successor.pid} has taken over from ${process.pid}`);
      this.#done = true;
      this.#taken.resolve(successor);
      return null;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#report(gateway, false, `upgrade failed: ${reason}; process ${process.pid} continues`);
      claim.takeAgain();
      return reason;
    } finally {
      this.#running = null;
    }
  }

  async #start(gateway: Gateway): Promise<Successor> {
    const { context, claim, say } = this.#options;
    const { timeout } = this;
    const { Successor: SuccessorClass } = await import('../../boot/handover/successor.ts');
    if (this.#stopping) throw new Error('the node is stopping');
    const env = Object.fromEntries(Object.entries(context.env).filter(([name]) => !own.includes(name)));
    const successor = new SuccessorClass({ estate: gateway.estate(), env, release: () => claim.release(), timeout });
    this.#running = successor;
    say(`upgrade: process ${successor.pid} starts`);
    return successor;
  }

  #report(gateway: Gateway | null, ok: boolean, line: string): void {
    if (gateway === null) this.#options.say(line);
    else gateway.log.log(ok ? 'notice' : 'error', line);
    writeOutcome(this.#options.prefix, 'upgrade', ok, [line]);
  }
}
