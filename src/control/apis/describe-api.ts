import type { Row } from '../../shared/entities/entity.ts';
import { foreignId, isEnabled, text, texts } from '../../shared/entities/row-fields.ts';
import { iterateRows } from '../admin/lists/iterate-rows.ts';
import type { StoreReader } from '../store/store.ts';
import { type Demands, demandsOf } from './demands/demands.ts';
import { effectivePlugins } from './demands/effective-plugins.ts';
import { routeOfOperation } from './demands/find-route.ts';
import type { ApiReference, OperationView } from './reference/api-reference.ts';

/** Routes of one API that are regarded. */
const maxRoutes = 5_000;

/** An operation, and what the gateway does with its requests. */
export interface DescribedOperation extends OperationView {
  /** Null: no route of the service carries it. */
  readonly route: { readonly id: string; readonly name: string | null } | null;
  /** Hosts of its route. Empty: any. */
  readonly hosts: readonly string[];
  /** Position in the list of demands. */
  readonly demands: number;
}

export interface DescribedApi extends Omit<ApiReference, 'operations'> {
  readonly operations: readonly DescribedOperation[];
  /** Each one once. */
  readonly demands: readonly Demands[];
}

/** The service of an API, and its routes. */
export interface ApiPlace {
  readonly service: Row | null;
  readonly routes: readonly Row[];
}

/** With the plugin instances that may run for its requests. */
export interface ApiSurroundings extends ApiPlace {
  readonly plugins: readonly Row[];
}

/** All plugin instances: one that is left out could be the one that forbids something. */
export async function readPlugins(reader: StoreReader): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for await (const row of iterateRows(reader, 'plugins')) rows.push(row);
  return rows;
}

export async function readPlace(reader: StoreReader, api: Row): Promise<ApiPlace> {
  const id = foreignId(api, 'service') ?? '';
  const service = await reader.get('services', id);
  return { service, routes: await reader.list('routes', { where: { service: id }, limit: maxRoutes }) };
}

/** `consumer`: whose limits hold; null: those of any consumer without limits of its own. */
export function describeApi(
  reference: ApiReference,
  { service, routes, plugins }: ApiSurroundings,
  consumer: string | null,
): DescribedApi {
  const isServed = service !== null && isEnabled(service);
  const demands: Demands[] = [];
  const known = new Map<string, number>();
  const demandsAt = (route: Row | null): number => {
    const key = route?.id ?? '';
    const at = known.get(key);
    if (at !== undefined) return at;
    const scope = { route: route?.id ?? null, service: service?.id ?? null, consumer };
    const found = demandsOf(effectivePlugins(plugins, scope));
    const same = JSON.stringify(found);
    const before = demands.findIndex((one) => JSON.stringify(one) === same);
    const place = before < 0 ? demands.push(found) - 1 : before;
    known.set(key, place);
    return place;
  };
  const operations = reference.operations.map((operation): DescribedOperation => {
    const route = isServed ? routeOfOperation(routes, operation) : null;
    return {
      ...operation,
      route: route === null ? null : { id: route.id, name: text(route, 'name') },
      hosts: route === null ? [] : (texts(route, 'hosts') ?? []),
      demands: demandsAt(route),
    };
  });
  return { ...reference, operations, demands };
}
