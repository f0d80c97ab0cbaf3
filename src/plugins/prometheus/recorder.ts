import type { SeriesWriter } from '../../plugin-kit/shared-memory/index.ts';
import type { ConsumerView, RouteView, ServiceView } from '../../plugin-sdk/index.ts';
import {
  additions,
  egress,
  gatewayBounds,
  ingress,
  ofBoth,
  totalAt,
  upstreamAt,
  upstreamBounds,
} from './series-kinds.ts';

/** Maximum cached statuses and consumers of a route; others are looked up each time. */
const maxCached = 1000;

/** Means no service. */
const none = Object.freeze({});

/** Indexes of a route's series; -1: not looked up yet. */
interface RoutePlaces {
  readonly service: ServiceView | null;
  /** Labels: kind, service, route. */
  readonly labels: readonly [kind: string, service: string, route: string];
  times: number;
  readonly noConsumer: ConsumerPlaces;
  consumers: Map<string, ConsumerPlaces> | null;
  /** Of the same route with other services: a plugin chooses them, or an edit has replaced the first one. */
  others: WeakMap<object, RoutePlaces> | null;
}

interface ConsumerPlaces {
  readonly name: string;
  bytes: number;
  /** Of the last status: most responses have the same. */
  lastKey: number;
  lastPlace: number;
  readonly statuses: Map<number, number>;
}

export interface RecorderMemories {
  readonly requests: SeriesWriter | null;
  readonly times: SeriesWriter | null;
  readonly bytes: SeriesWriter | null;
}

/** The values of a request or stream. Times in milliseconds; `upstream` -1: no backend was called. */
export interface Observation {
  readonly total: number;
  readonly gateway: number;
  readonly bytesReceived: number;
  readonly bytesSent: number;
}

/** Adds to the series in shared memory. Labels are joined once for each route and status, never for each request. */
export class Recorder {
  readonly #memories: RecorderMemories;
  readonly #kind: string;
  /** Views of routes live as long as their config. */
  readonly #routes = new WeakMap<RouteView, RoutePlaces>();

  constructor(kind: string, memories: RecorderMemories) {
    this.#kind = kind;
    this.#memories = memories;
  }

  /** `consumer`: null also without per-consumer metrics. */
  record(
    route: RouteView,
    service: ServiceView | null,
    consumer: ConsumerView | null,
    status: number,
    byService: boolean,
    observed: Observation,
    upstream: number,
  ): void {
    let places = this.#routes.get(route);
    if (places === undefined || places.service !== service) places = this.#open(route, service);
    const { requests, times, bytes } = this.#memories;
    if (times !== null) this.#addTimes(times, places, observed, upstream);
    if (requests === null && bytes === null) return;
    const who = consumer === null ? places.noConsumer : consumerPlaces(places, consumer);
    if (requests !== null) requests.values[statusPlace(requests, places, who, status, byService)]! += 1;
    if (bytes !== null) {
      if (who.bytes < 0) who.bytes = bytes.place([ofBoth, ...places.labels.slice(1), who.name]);
      bytes.values[who.bytes + ingress]! += observed.bytesReceived;
      bytes.values[who.bytes + egress]! += observed.bytesSent;
      bytes.values[who.bytes + additions]! += 1;
    }
  }

  #addTimes(times: SeriesWriter, places: RoutePlaces, { gateway, total }: Observation, upstream: number): void {
    if (places.times < 0) places.times = times.place(places.labels);
    const { values } = times;
    const at = places.times;
    observe(values, at, gatewayBounds, Math.round(gateway));
    if (upstream >= 0) observe(values, at + upstreamAt, upstreamBounds, Math.round(upstream));
    observe(values, at + totalAt, upstreamBounds, Math.round(total));
  }

  #open(route: RouteView, service: ServiceView | null): RoutePlaces {
    const first = this.#routes.get(route);
    const known = first?.others?.get(service ?? none);
    if (known !== undefined) return known;
    const places: RoutePlaces = {
      service,
      labels: [this.#kind, service?.name ?? service?.host ?? '', route.name ?? route.id],
      times: -1,
      noConsumer: emptyPlaces(''),
      consumers: null,
      others: null,
    };
    if (first === undefined) this.#routes.set(route, places);
    else {
      first.others ??= new WeakMap();
      first.others.set(service ?? none, places);
    }
    return places;
  }
}

/** Buckets are not cumulative; the sum follows them. */
function observe(values: Float64Array, at: number, bounds: readonly number[], value: number): void {
  let bucket = 0;
  while (bucket < bounds.length && value > bounds[bucket]!) bucket++;
  values[at + bucket]! += 1;
  values[at + bounds.length + 1]! += value;
}

function consumerPlaces(places: RoutePlaces, { id, username }: ConsumerView): ConsumerPlaces {
  places.consumers ??= new Map();
  let found = places.consumers.get(id);
  // A consumer may have been renamed.
  if (found === undefined || found.name !== (username ?? '')) {
    if (places.consumers.size >= maxCached) places.consumers.clear();
    found = emptyPlaces(username ?? '');
    places.consumers.set(id, found);
  }
  return found;
}

function emptyPlaces(name: string): ConsumerPlaces {
  return { name, bytes: -1, lastKey: -1, lastPlace: -1, statuses: new Map() };
}

function statusPlace(
  requests: SeriesWriter,
  { labels }: RoutePlaces,
  who: ConsumerPlaces,
  status: number,
  byService: boolean,
): number {
  const key = byService ? -2 - status : status;
  if (who.lastKey === key) return who.lastPlace;
  let place = who.statuses.get(key);
  if (place === undefined) {
    place = requests.place([...labels, String(status), byService ? 'service' : 'kong', who.name]);
    if (who.statuses.size < maxCached) who.statuses.set(key, place);
  }
  who.lastKey = key;
  who.lastPlace = place;
  return place;
}
