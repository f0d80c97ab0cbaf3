import type { DescribedApi } from '../apis/describe-api.ts';

/**
 * What a consumer sees of an API: the operations that a route of its own carries, and only what they refer to. Routes, groups, and the schemas
 * of other operations are not part of it.
 */
export function visiblePart(api: DescribedApi) {
  const { title, version, description } = api;
  const kept = new Map<number, number>();
  const operations = api.operations.flatMap(({ route, demands, ...shown }) => {
    if (route === null) return [];
    const place = kept.get(demands) ?? kept.size;
    kept.set(demands, place);
    return [{ ...shown, demands: place }];
  });
  const tags = new Set(operations.flatMap((operation) => operation.tags));
  return {
    ...{ title, version, description },
    tags: api.tags.filter(({ name }) => tags.has(name)),
    operations,
    demands: [...kept.keys()].map((at) => {
      const { auth = [], needs = 'all', optional = false, limits = [] } = api.demands[at] ?? {};
      return { auth, needs, optional, limits };
    }),
    schemas: reachable(api.schemas, operations),
  };
}

type Schemas = DescribedApi['schemas'];

function reachable(schemas: Schemas, from: unknown): Schemas {
  const all = new Map(schemas);
  const found = new Set<string>();
  const waiting: unknown[] = [from];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    if ('ref' in value && typeof value.ref === 'string' && all.has(value.ref)) {
      if (found.has(value.ref)) continue;
      found.add(value.ref);
      waiting.push(all.get(value.ref));
    } else waiting.push(...Object.values(value));
  }
  return schemas.filter(([ref]) => found.has(ref));
}
