import type { NodeReport } from '../nodes/node-report.ts';

interface Seen {
  readonly requests: number;
  /** Milliseconds since the epoch, by the clock of the node. */
  readonly at: number;
  /** Requests a second. */
  readonly rate: number | null;
}

/** Requests a second of each node, from two reports of it. */
export class NodeRates {
  #seen = new Map<string, Seen>();

  /** The rates by the id of the node; null: there is one report so far, or the node has begun again meanwhile. */
  update(reports: readonly NodeReport[]): ReadonlyMap<string, number | null> {
    const seen = new Map<string, Seen>();
    for (const { id, load, reportedAt: at } of reports) {
      // A report of another version may lack any member.
      if (at === undefined || load === undefined) continue;
      const before = this.#seen.get(id);
      if (before?.at === at) seen.set(id, before);
      else
        seen.set(id, {
          requests: load.requests,
          at,
          rate: before === undefined ? null : rateOf(before, load.requests, at),
        });
    }
    this.#seen = seen;
    return new Map([...seen].map(([id, { rate }]) => [id, rate]));
  }
}

function rateOf(before: Seen, requests: number, at: number): number | null {
  if (at <= before.at || requests < before.requests) return null;
  return ((requests - before.requests) * 1000) / (at - before.at);
}
