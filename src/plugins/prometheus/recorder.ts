import type { ConsumerView, RouteView, ServiceView } from '../../plugin-sdk/request-views.ts';
import type { SeriesWriter } from '../../plugin-sdk/series.ts';
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

/** Statuses and consumers of a route whose places are remembered; beyond it they are looked up anew. */
const mostRemembered = 1000;

/** Stands for no service. */
const none = Object.freeze({});

/** Where a route's numbers stand; -1: not looked up yet. */
interface RoutePlaces {
  readonly service: ServiceView | null;
  /** Labels: of what, service, route. */
  readonly labels: readonly [kind: string, service: string, route: string];
  times: number;
  readonly nobody: ConsumerPlaces;
  consumers: Map<string, ConsumerPlaces> | null;
  /** Of the same route with other services: a plugin chooses them, or an edit has put another one in the place of the first. */
  others: WeakMap<object, RoutePlaces> | null;
}

interface ConsumerPlaces {
  readonly name: string;
  bytes: number;
  /** Of the last status: most answers are alike. */
  lastKey: number;
  lastPlace: number;
  readonly statuses: Map<number, number>;
}

export interface RecorderMemories {
  readonly requests: SeriesWriter | null;
  readonly times: SeriesWriter | null;
  readonly bytes: SeriesWriter | null;
}

/** What is recorded of a request or stream. Times in milliseconds; `upstream` -1: no backend was asked. */
export interface Observation {
  readonly total: number;
  readonly gateway: number;
  readonly bytesReceived: number;
  readonly bytesSent: number;
}

/** Adds what happens to the numbers in shared memory. Labels are joined once for each route and status, never for each request. */
export class Recorder {
  readonly #memories: RecorderMemories;
  readonly #kind: string;
  /** Views of routes live as long as the config that they are of. */
  readonly #routes = new WeakMap<RouteView, RoutePlaces>();

  constructor(kind: string, memories: RecorderMemories) {
    this.#kind = kind;
    this.#memories = memories;
  }

  /** `consumer`: null also when consumers are not told apart. */
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
    const who = consumer === null ? places.nobody : consumerPlaces(places, consumer);
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
      nobody: emptyPlaces(''),
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

/** Buckets each count what falls into them alone; the sum is behind them. */
function observe(values: Float64Array, at: number, bounds: readonly number[], value: number): void {
  let bucket = 0;
  while (bucket < bounds.length && value > bounds[bucket]!) bucket++;
  values[at + bucket]! += 1;
  values[at + bounds.length + 1]! += value;
}

function consumerPlaces(places: RoutePlaces, { id, username }: ConsumerView): ConsumerPlaces {
  places.consumers ??= new Map();
  let found = places.consumers.get(id);
  // A consumer may have got another name.
  if (found === undefined || found.name !== (username ?? '')) {
    if (places.consumers.size >= mostRemembered) places.consumers.clear();
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
    if (who.statuses.size < mostRemembered) who.statuses.set(key, place);
  }
  who.lastKey = key;
  who.lastPlace = place;
  return place;
}
