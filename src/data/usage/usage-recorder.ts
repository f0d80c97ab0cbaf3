import { bucketOf } from '../../shared/usage/latency-sketch.ts';
import { keyText, other, readKey } from '../../shared/usage/series-key.ts';
import { SeriesMap } from '../../shared/usage/series-map.ts';
import { maxKeyBytes, seriesIn, UsageHalf } from '../../shared/usage/usage-memory.ts';
import type { NameKind, UsageName } from '../../shared/usage/usage-name.ts';
import { monotonic } from '../../shared/util/time/clock.ts';

/** A finished request, as far as it is counted. */
export interface CountedRequest {
  readonly route: { readonly id: string; readonly name: string | null } | null;
  readonly service: { readonly id: string; readonly name: string | null } | null;
  readonly consumer: { readonly id: string; readonly username: string | null; readonly customId: string | null } | null;
  /** '' unless a plugin named one. */
  readonly apiVersion: string;
  readonly status: number;
  /** Milliseconds since the epoch, and on the monotonic clock. */
  readonly startedAt: number;
  readonly startedMono: number;
  /** Monotonic clock; 0: never. */
  readonly upstreamStartedMono: number;
  readonly firstByteMono: number;
}

/** Milliseconds. */
const minuteDuration = 60_000;
/**
 * A request that ended this long before the minute still counts in it: ends have millisecond precision and are not
 * ordered.
 */
const tolerance = 1_000;
/** Maximum names that are cached as reported, and for how long (milliseconds): names in use are reported again. */
const maxReported = 20_000;
const reportedLifetime = 6 * 3_600_000;
/** nginx's status for a client that closed the connection before the response. */
const clientClosedRequest = 499;

type Statuses = Map<number, number>;

/** The requests of one route object that differ only in the status. */
interface Leaf {
  readonly service: object | null;
  readonly consumer: string;
  readonly version: string;
  readonly statuses: Statuses;
}

interface RoutePlaces {
  /** The leaf of the last request: consecutive requests are usually of the same kind. */
  last: Leaf;
  readonly leaves: Map<object | null, Map<string, Map<string, Leaf>>>;
}

/**
 * Counts the finished requests of one worker. A request costs a few lookups by reference and additions; no string is
 * built for it.
 */
export class UsageRecorder {
  readonly #halves: readonly [UsageHalf, UsageHalf];
  readonly #limit: number;
  #half: UsageHalf;
  #minute = 0;
  #minuteEnd = 0;
  /** Series that are left for this minute in the half. */
  #remaining: number;
  #leaves = 0;
  readonly #routes = new Map<object | null, RoutePlaces>();
  /** Series of the minute by the text of their key. */
  readonly #places = new SeriesMap<number>();
  readonly #reported = new Map<string, string>();
  #reportedSince = 0;
  #names: UsageName[] = [];

  constructor(memory: SharedArrayBuffer) {
    this.#halves = [new UsageHalf(memory, 0), new UsageHalf(memory, 1)];
    this.#half = this.#halves[0];
    this.#limit = seriesIn(memory);
    this.#remaining = this.#limit;
  }

  /** `bytesIn`, `bytesOut`: heads and bodies. `now`: when it ended, monotonic clock. `bucket`: of its latency. */
  record(
    x: CountedRequest,
    bytesIn: number,
    bytesOut: number,
    now = monotonic(),
    bucket = bucketOf(now - x.startedMono),
  ): void {
    const latency = now - x.startedMono;
    const ended = x.startedAt + latency;
    if (ended >= this.#minuteEnd || ended < this.#minute - tolerance) this.#beginMinute(ended);
    const place = this.#placeOf(x);
    if (place < 0) {
      this.#half.lose();
      return;
    }
    const { upstreamStartedMono: upstreamStarted, firstByteMono: answered } = x;
    const upstream = upstreamStarted === 0 ? -1 : (answered === 0 ? now : answered) - upstreamStarted;
    this.#half.add(place, bytesIn, bytesOut, latency, bucket, upstream, bucketOf(upstream));
  }

  /**
   * Continues in the other half; the current one now belongs to the reader. Returns the names of ids that were not
   * reported before.
   */
  switchTo(half: 0 | 1): readonly UsageName[] {
    this.#half = this.#halves[half];
    this.#clearCache();
    if (this.#reportedSince === 0) this.#reportedSince = this.#minute;
    else if (Math.abs(this.#minute - this.#reportedSince) >= reportedLifetime) {
      this.#reported.clear();
      this.#reportedSince = this.#minute;
    }
    const names = this.#names;
    this.#names = [];
    return names;
  }

  #beginMinute(ended: number): void {
    this.#minute = Math.floor(ended / minuteDuration) * minuteDuration;
    this.#minuteEnd = this.#minute + minuteDuration;
    this.#clearCache();
  }

  #clearCache(): void {
    this.#remaining = this.#limit - this.#half.used;
    this.#leaves = 0;
    this.#routes.clear();
    this.#places.clear();
  }

  #placeOf(x: CountedRequest): number {
    const leaf = this.#leafOf(x);
    const known = leaf.statuses.get(x.status);
    if (known !== undefined) return known;
    const place = this.#newPlace(x, leaf);
    if (place >= 0) leaf.statuses.set(x.status, place);
    return place;
  }

  #leafOf(x: CountedRequest): Leaf {
    const { route, service, apiVersion } = x;
    let consumer = x.consumer === null ? '' : x.consumer.id;
    let places = this.#routes.get(route);
    if (places !== undefined) {
      const { last } = places;
      if (last.service === service && last.consumer === consumer && last.version === apiVersion) return last;
    }
    const versions = places?.leaves.get(service) ?? new Map<string, Map<string, Leaf>>();
    const consumers = versions.get(apiVersion) ?? new Map<string, Leaf>();
    let known = consumers.get(consumer);
    if (known === undefined && consumer !== '' && this.#places.isFullOfConsumers(this.#remaining)) {
      // Perhaps one of a million: no string is built for it.
      consumer = other;
      known = consumers.get(other);
    }
    const leaf = known ?? { service, consumer, version: apiVersion, statuses: new Map() };
    if (places === undefined) {
      places = { last: leaf, leaves: new Map() };
      this.#routes.set(route, places);
    }
    places.last = leaf;
    if (known !== undefined) return leaf;
    // The cache must not grow with the number of consumers: those above the limit are looked up by text.
    if (this.#leaves >= this.#limit) return leaf;
    this.#leaves++;
    places.leaves.set(service, versions);
    versions.set(apiVersion, consumers);
    consumers.set(consumer, leaf);
    return leaf;
  }

  #newPlace(x: CountedRequest, leaf: Leaf): number {
    const key = keyText({
      route: x.route?.id ?? '',
      service: x.service?.id ?? '',
      consumer: textOf(leaf.consumer),
      version: textOf(leaf.version),
      status: x.status === 0 ? clientClosedRequest : x.status,
    });
    const fits = Buffer.byteLength(key) <= maxKeyBytes;
    const text = this.#places.placeWithin(fits ? key : keyText({ ...readKey(key), consumer: other }), this.#remaining);
    const place = this.#blockOf(text);
    if (place >= 0) this.#noteNames(x, text);
    return place;
  }

  #blockOf(text: string): number {
    const known = this.#places.get(text);
    if (known !== undefined) return known;
    const place = this.#half.take(this.#minute, text);
    if (place >= 0) this.#places.set(text, place);
    return place;
  }

  #noteNames({ route, service, consumer }: CountedRequest, text: string): void {
    const key = readKey(text);
    if (route !== null && key.route === route.id) this.#noteName('route', route.id, route.name);
    if (service !== null && key.service === service.id) this.#noteName('service', service.id, service.name);
    if (consumer !== null && key.consumer === consumer.id) {
      this.#noteName('consumer', consumer.id, consumer.username ?? consumer.customId);
    }
  }

  #noteName(kind: NameKind, id: string, name: string | null): void {
    if (name === null || id === '') return;
    const known = `${kind} ${id}`;
    if (this.#reported.get(known) === name) return;
    if (this.#reported.size >= maxReported) this.#reported.clear();
    this.#reported.set(known, name);
    this.#names.push([kind, id, name]);
  }
}

/** A value that contains the delimiter of the key is replaced. */
function textOf(text: string): string {
  return text.includes('\0') ? other : text;
}
