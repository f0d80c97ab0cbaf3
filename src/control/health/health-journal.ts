import type { UpstreamAddresses } from '../../shared/messages/upstream-addresses.ts';
import { monotonic } from '../../shared/util/time/clock.ts';

/** The source of a change of health. */
export type HealthSource = 'active' | 'passive' | 'manual' | 'config' | 'upgrade';

export interface HealthTransition {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** `10.0.0.1:80` */
  readonly address: string;
  readonly healthy: boolean;
  readonly source: HealthSource;
  readonly reason: string;
}

export interface HealthLog {
  log(level: 'notice' | 'warn', message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** Maximum transitions of each upstream. */
const most = 50;
/** Maximum log lines of an upstream in each interval (milliseconds): traffic can make an address flap very often. */
const maxLines = 50;
const interval = 10_000;

interface Account {
  readonly transitions: HealthTransition[];
  begunAt: number;
  lines: number;
  suppressed: number;
}

/** The last changes of health in each upstream, and the log of them. */
export class HealthJournal {
  readonly #accounts = new Map<string, Account>();
  readonly #log: HealthLog;

  constructor(log: HealthLog) {
    this.#log = log;
  }

  /** `target`: the name that resolved to the address. */
  note({ upstreamId, upstreamName }: UpstreamAddresses, target: string, transition: HealthTransition): void {
    let account = this.#accounts.get(upstreamId);
    if (account === undefined) {
      account = { transitions: [], begunAt: monotonic(), lines: 0, suppressed: 0 };
      this.#accounts.set(upstreamId, account);
    }
    if (account.transitions.push(transition) > most) account.transitions.shift();
    if (monotonic() - account.begunAt > interval) {
      account.begunAt = monotonic();
      account.lines = 0;
    }
    if (++account.lines > maxLines) {
      account.suppressed++;
      return;
    }
    const { healthy, address, source, reason } = transition;
    const suppressed = account.suppressed === 0 ? {} : { suppressed: account.suppressed };
    account.suppressed = 0;
    this.#log.log(healthy ? 'notice' : 'warn', healthy ? 'an address is healthy again' : 'an address is unhealthy', {
      ...{ upstream: upstreamName, target, address, check: source, reason },
      ...suppressed,
    });
  }

  /** The latest first. */
  of(upstreamId: string): readonly HealthTransition[] {
    return this.#accounts.get(upstreamId)?.transitions.toReversed() ?? [];
  }

  remove(upstreamId: string): void {
    this.#accounts.delete(upstreamId);
  }
}
