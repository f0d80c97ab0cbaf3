import type { Row } from '../../../shared/entities/entity.ts';
import { foreignId, text } from '../../../shared/entities/row-fields.ts';
import { isUuid } from '../../../shared/schema/attributes.ts';
import type { StoreReader } from '../../store/store.ts';
import { iterateRows } from '../lists/iterate-rows.ts';

interface NamingField {
  readonly entity: string;
  /** The plugin uses the entity, as a route uses its service. False: it only lets it in. */
  readonly uses: boolean;
}

/**
 * Fields of a plugin's configuration that name another entity, or several, by its id or a name, which no foreign key protects. At any
 * depth.
 */
const namingFields: Readonly<Record<string, NamingField>> = {
  service: { entity: 'services', uses: true },
  upstream: { entity: 'upstreams', uses: true },
  fallback_upstream: { entity: 'upstreams', uses: true },
  anonymous: { entity: 'consumers', uses: true },
  consumers: { entity: 'consumers', uses: false },
  custom_ids: { entity: 'consumers', uses: false },
};

/** The fields by which an entity is named. */
const nameFields: Readonly<Record<string, readonly string[]>> = {
  services: ['name'],
  upstreams: ['name'],
  consumers: ['username', 'custom_id'],
};

export interface NamedReference {
  readonly entity: string;
  /** An id or a name. */
  readonly name: string;
  readonly uses: boolean;
}

/** What a row refers to by name: the host of a service may be an upstream, and configurations of plugins name entities. */
export function namesIn(entity: string, row: Row): readonly NamedReference[] {
  if (entity === 'services') {
    const host = text(row, 'host');
    return host === null ? [] : [{ entity: 'upstreams', name: host, uses: true }];
  }
  return entity === 'plugins' ? [...namesInConfig(row['config'])] : [];
}

function* namesInConfig(value: unknown): Generator<NamedReference> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const field = Object.hasOwn(namingFields, key) ? namingFields[key] : undefined;
    if (field !== undefined) {
      for (const name of Array.isArray(inner) ? inner : [inner]) if (typeof name === 'string') yield { ...field, name };
    }
    yield* namesInConfig(inner);
  }
}

/** The row that a name stands for; null: there is none. */
export async function findNamed(reader: StoreReader, { entity, name }: NamedReference): Promise<Row | null> {
  const byId = isUuid(name) ? await reader.get(entity, name.toLowerCase()) : null;
  return byId ?? (await reader.findBy(entity, nameFields[entity]?.[0] ?? 'name', name));
}

/** The names of a row that stop or begin to stand for it with this change; its id, too, when it is created or deleted. */
export function changedNames(entity: string, before: Row | null, after: Row | null): readonly string[] {
  const fields = Object.hasOwn(nameFields, entity) ? nameFields[entity] : undefined;
  if (fields === undefined) return [];
  const names = fields.flatMap((field) => {
    const [old, fresh] = [before, after].map((row) => (row === null ? null : text(row, field)));
    return old === fresh ? [] : [old, fresh];
  });
  const ids = before === null || after === null ? [(before ?? after)?.id] : [];
  return [...names, ...ids].filter((name) => typeof name === 'string');
}

/**
 * The first row that refers to the entity by one of these names and is not `allowed`; null: there is none. Reads all services or
 * plugins, as such names have no index.
 */
export async function findNaming(
  reader: StoreReader,
  entity: string,
  names: readonly string[],
  allowed: (row: Row) => boolean,
): Promise<{ readonly entity: string; readonly row: Row } | null> {
  const wanted = new Set(names);
  for (const place of entity === 'upstreams' ? ['services', 'plugins'] : ['plugins']) {
    for await (const row of iterateRows(reader, place)) {
      const refers = namesIn(place, row).some((reference) => reference.entity === entity && wanted.has(reference.name));
      if (refers && !allowed(row)) return { entity: place, row };
    }
  }
  return null;
}

/** Ids in the foreign fields of a row. */
export function foreignIds(row: Row | null, fields: readonly string[]): readonly (string | null)[] {
  return fields.map((field) => (row === null ? null : foreignId(row, field)));
}
