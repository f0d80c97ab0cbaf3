import type { RuntimeTarget } from '../snapshot/runtime.ts';
import { xxhash32 } from './xxhash32.ts';

/** Points of a target of average weight, as in Kong. */
const pointsPerTarget = 160;
const minPlaces = 1000;
/** Most points on a ring that had to be made larger than the upstream says. */
const maxPoints = 2 ** 18;

/**
 * The ring of consistent hashing, laid out as Kong does it, so that clients stay where they are when a gateway takes over
 * from Kong: points `<ip>::<port> <number>` by their xxHash32, in the order of names. It follows from targets and weights
 * alone: health changes nothing about it.
 */
export class HashRing {
  /** Index of the target at each point, in the order of the ring. */
  readonly points: Uint32Array;
  /** For each place of the ring the point there, or the next one below it. */
  readonly #below: Uint32Array;

  constructor(targets: readonly RuntimeTarget[], slots: number) {
    const places = layOut(targets, Math.max(minPlaces, slots));
    const points: number[] = [];
    const below = new Uint32Array(places.length);
    for (const [place, owner] of places.entries()) {
      if (owner >= 0) points.push(owner);
      // Below the lowest point the ring goes on with the highest, whose number is known only in the end.
      below[place] = points.length;
    }
    for (const [place, count] of below.entries()) below[place] = count === 0 ? points.length - 1 : count - 1;
    this.points = Uint32Array.from(points);
    this.#below = below;
  }

  /** Number of the point that a hash belongs to. There is at least one. */
  find(hash: number): number {
    return this.#below[hash % this.#below.length]!;
  }
}

/** The target at each place, or -1. */
function layOut(targets: readonly RuntimeTarget[], slots: number): Int32Array {
  const wanted = pointCounts(targets, pointsPerTarget);
  const total = wanted.reduce((sum, count) => sum + count, 0);
  if (total <= slots) return fill(targets, wanted, slots);
  // Kong leaves some targets without a point then, and so without a request.
  const perTarget = Math.max(1, Math.min(pointsPerTarget, Math.floor(maxPoints / targets.length)));
  const counts = pointCounts(targets, perTarget);
  const sum = counts.reduce((all, count) => all + count, 0);
  return fill(targets, counts, 2 ** Math.ceil(Math.log2(sum * 4)));
}

function pointCounts(targets: readonly RuntimeTarget[], perTarget: number): readonly number[] {
  const totalWeight = targets.reduce((sum, { weight }) => sum + weight, 0);
  const entities = new Set(targets.map(({ id }) => id)).size;
  return targets.map(({ weight }) => Math.max(1, Math.floor((weight / totalWeight) * entities * perTarget)));
}

function fill(targets: readonly RuntimeTarget[], counts: readonly number[], size: number): Int32Array {
  const places = new Int32Array(size).fill(-1);
  const order = [...targets.keys()].sort((a, b) => compare(targets[a]!, targets[b]!));
  let free = size;
  for (const index of order) {
    const name = `${addressText(targets[index]!)} `;
    let left = Math.min(counts[index]!, free);
    for (let number = 1; left > 0; number++) {
      const place = xxhash32(name + number) % size;
      if (places[place] !== -1) continue;
      places[place] = index;
      left--;
      free--;
    }
  }
  return places;
}

function compare(a: RuntimeTarget, b: RuntimeTarget): number {
  if (a.host !== b.host) return a.host < b.host ? -1 : 1;
  if (a.port !== b.port) return a.port - b.port;
  return addressText(a) < addressText(b) ? -1 : 1;
}

/** With the two colons that Kong has there. */
function addressText({ ip, host, port }: RuntimeTarget): string {
  const address = ip ?? host;
  return `${address.includes(':') ? `[${address}]` : address}::${port}`;
}
