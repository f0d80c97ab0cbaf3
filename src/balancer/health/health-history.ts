/** Who found out that the health of an address has changed. */
export type HealthSource = 'active' | 'passive' | 'manual' | 'config';

export interface HealthTransition {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** `10.0.0.1:80` */
  readonly address: string;
  readonly healthy: boolean;
  readonly source: HealthSource;
  readonly reason: string;
}

/** Kept of each upstream. */
const most = 50;

/** The last changes of health in each upstream. */
export class HealthHistory {
  readonly #lists = new Map<string, HealthTransition[]>();

  add(upstreamId: string, transition: HealthTransition): void {
    const list = this.#lists.get(upstreamId);
    if (list === undefined) this.#lists.set(upstreamId, [transition]);
    else if (list.push(transition) > most) list.shift();
  }

  /** The latest first. */
  of(upstreamId: string): readonly HealthTransition[] {
    return [...(this.#lists.get(upstreamId) ?? [])].reverse();
  }

  forget(upstreamId: string): void {
    this.#lists.delete(upstreamId);
  }
}
