import type { RuntimeTarget } from './runtime-target.ts';
import { xxhash32Of } from './xxhash32.ts';

/** Points of a target of average weight, as in Kong. */
const pointsPerTarget = 160;
const minPlaces = 1000;
/** Maximum points of a ring that had to grow beyond the slots of the upstream. */
const maxPoints = 2 ** 18;

/**
 * The ring of consistent hashing, laid out as in Kong, so that clients keep their targets when a gateway replaces Kong:
 * points `<ip>::<port> <number>` by their xxHash32, in the order of names. It depends on targets and weights alone:
 * health does not change it.
 */
export class HashRing {
  /** Index of the target at each point, in the order of the ring. */
  readonly points: Int32Array;
  /** For each position of the ring the point there, or the next one below it. */
  readonly #below: Uint32Array;

  constructor(targets: readonly RuntimeTarget[], slots: number) {
    const places = layOut(targets, Math.max(minPlaces, slots));
    let count = 0;
    for (let place = 0; place < places.length; place++) if (places[place]! >= 0) count++;
    const points = new Int32Array(count);
    const below = new Uint32Array(places.length);
    // Below the lowest point the ring continues with the highest.
    let last = count - 1;
    let met = 0;
    for (let place = 0; place < places.length; place++) {
      const owner = places[place]!;
      if (owner >= 0) {
        points[met] = owner;
        last = met++;
      }
      below[place] = last;
    }
    this.points = points;
    this.#below = below;
  }

  /** Number of the point of a hash. There is at least one. */
  find(hash: number): number {
    return this.#below[hash % this.#below.length]!;
  }
}

/** The target at each position, or -1. */
function layOut(targets: readonly RuntimeTarget[], slots: number): Int32Array {
  const wanted = pointCounts(targets, pointsPerTarget);
  const total = wanted.reduce((sum, count) => sum + count, 0);
  if (total <= slots) return fill(targets, wanted, slots);
  // Kong leaves some targets without a point then, and so without requests.
  const perTarget = Math.max(1, Math.min(pointsPerTarget, Math.floor(maxPoints / targets.length)));
  const counts = pointCounts(targets, perTarget);
  const sum = counts.reduce((all, count) => all + count, 0);
  return fill(targets, counts, 2 ** Math.ceil(Math.log2(sum * 2)));
}

function pointCounts(targets: readonly RuntimeTarget[], perTarget: number): readonly number[] {
  const totalWeight = targets.reduce((sum, { weight }) => sum + weight, 0);
  const entities = new Set(targets.map(({ id }) => id)).size;
  return targets.map(({ weight }) => Math.max(1, Math.floor((weight / totalWeight) * entities * perTarget)));
}

function fill(targets: readonly RuntimeTarget[], counts: readonly number[], size: number): Int32Array {
  const places = new Int32Array(size).fill(-1);
  const name = new PointName();
  let free = size;
  for (const { index, address } of inOrder(targets)) {
    name.start(`${address} `);
    for (let left = Math.min(counts[index]!, free); left > 0; ) {
      const place = name.nextHash() % size;
      if (places[place] !== -1) continue;
      places[place] = index;
      left--;
      free--;
    }
  }
  return places;
}

/** Names of points one after the other, without a string for each: a ring can have some hundred thousand. */
class PointName {
  readonly #bytes = Buffer.alloc(320);
  #prefix = 0;
  #number = 0;

  start(prefix: string): void {
    this.#prefix = this.#bytes.write(prefix, 'latin1');
    this.#number = 0;
  }

  nextHash(): number {
    const number = ++this.#number;
    let digits = 1;
    for (let power = 10; power <= number; power *= 10) digits++;
    const length = this.#prefix + digits;
    let rest = number;
    for (let at = length - 1; at >= this.#prefix; at--) {
      this.#bytes[at] = 48 + (rest % 10);
      rest = Math.floor(rest / 10);
    }
    return xxhash32Of(this.#bytes, length);
  }
}

interface Placed {
  readonly index: number;
  readonly host: string;
  readonly port: number;
  readonly address: string;
}

/** The first target keeps a position that two would have. */
function inOrder(targets: readonly RuntimeTarget[]): readonly Placed[] {
  const list = targets.map((target, index) => {
    const { host, port } = target;
    return { index, host, port, address: addressText(target) };
  });
  return list.sort((a, b) => {
    if (a.host !== b.host) return a.host < b.host ? -1 : 1;
    if (a.port !== b.port) return a.port - b.port;
    return a.address < b.address ? -1 : 1;
  });
}

/** With the two colons of Kong. */
function addressText({ ip, host, port }: RuntimeTarget): string {
  const address = ip ?? host;
  return `${address.includes(':') ? `[${address}]` : address}::${port}`;
}
