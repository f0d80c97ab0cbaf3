import { type SeriesWriter, seriesWriter } from '../../../plugin-kit/shared-memory/index.ts';
import type { LogContext, PluginTools, RouteView, ServiceView } from '../../../plugin-sdk/index.ts';
import { durationZone } from '../zones.ts';
import { type DurationKind, durationBounds, durationCells, sumCell } from './duration-series.ts';
import { type MetricsConfig, recordsRequests } from './metrics-config.ts';

/** Methods of the conventions. All other methods share one label. */
const methods = ['_OTHER', 'CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE'] as const;
const methodNumbers: ReadonlyMap<string, number> = new Map(methods.map((name, at) => [name, at]));

/** Possible outcomes of a request other than a status. */
const faults = ['', 'aborted', 'timeout', 'unavailable', '_OTHER'] as const;
const versions = ['1.0', '1.1', '2'] as const;

/** Maximum cached label combinations of a route or service. */
const maxCached = 1000;

type Places = Map<number, number>;

/** Adds the durations of a request and of its backend to the memory of the instance. Null: not enabled. */
export function recordDurations(
  config: Pick<MetricsConfig, 'metrics'>,
  tools: Pick<PluginTools, 'zone' | 'instanceId' | 'node'>,
): ((context: LogContext) => void) | null {
  if (!recordsRequests(config)) return null;
  const writerOf = (kind: DurationKind): SeriesWriter =>
    seriesWriter(tools.zone(durationZone(kind, tools.instanceId)), tools.node.worker, durationCells);
  const server = writerOf('server');
  const client = writerOf('client');
  const routes = new WeakMap<RouteView, Places>();
  const services = new WeakMap<ServiceView, Places>();
  const unrouted: Places = new Map();

  const recordServer = ({ request, route, response, measures }: LogContext): void => {
    const places = route === null ? unrouted : placesOf(routes, route);
    const method = methodNumbers.get(request.method) ?? 0;
    const version = versions.indexOf(request.httpVersion);
    const key = keyOf(response.status, method, measures.aborted ? 1 : 0, version, request.scheme === 'https');
    let place = places.get(key);
    if (place === undefined) {
      const { status } = response;
      const error = status >= 500 ? String(status) : measures.aborted ? 'aborted' : '';
      const name = route === null ? '' : (route.name ?? route.id);
      const labels = [methods[method] ?? '', request.scheme, name, codeText(status), error, request.httpVersion];
      place = cached(places, key, server.place(labels));
    }
    observe(server.values, place, measures.total / 1000);
  };

  const recordClient = ({ request, response, measures }: LogContext, service: ServiceView): void => {
    const places = placesOf(services, service);
    const method = methodNumbers.get(request.method) ?? 0;
    const status = measures.upstreamStatus;
    const fault = status > 0 ? 0 : faultOf(response.status, measures.aborted);
    const key = keyOf(status, method, fault, 0, false);
    let place = places.get(key);
    if (place === undefined) {
      const error = status >= 400 ? String(status) : (faults[fault] ?? '');
      const scheme = service.protocol === 'https' || service.protocol === 'grpcs' ? 'https' : 'http';
      const where = [scheme, service.host, String(service.port)];
      place = cached(places, key, client.place([methods[method] ?? '', ...where, codeText(status), error]));
    }
    observe(client.values, place, (measures.upstream + measures.receive) / 1000);
  };

  return (context) => {
    recordServer(context);
    if (context.service !== null && context.measures.upstream >= 0) recordClient(context, context.service);
  };
}

function placesOf<K extends object>(all: WeakMap<K, Places>, owner: K): Places {
  let places = all.get(owner);
  if (places === undefined) {
    places = new Map();
    all.set(owner, places);
  }
  return places;
}

function keyOf(status: number, method: number, fault: number, version: number, secure: boolean): number {
  return (((status * 16 + method) * 8 + fault) * 4 + version) * 2 + (secure ? 1 : 0);
}

function cached(places: Places, key: number, place: number): number {
  if (places.size < maxCached) places.set(key, place);
  return place;
}

/** The reason why no backend responded, from the gateway's response. */
function faultOf(status: number, aborted: boolean): number {
  if (aborted) return faults.indexOf('aborted');
  if (status === 504) return faults.indexOf('timeout');
  return status === 502 || status === 503 ? faults.indexOf('unavailable') : faults.indexOf('_OTHER');
}

function codeText(status: number): string {
  return status > 0 ? String(status) : '';
}

function observe(values: Float64Array, place: number, seconds: number): void {
  let bucket = 0;
  while (bucket < durationBounds.length && seconds > durationBounds[bucket]!) bucket++;
  values[place + bucket]! += 1;
  values[place + sumCell]! += seconds;
}
