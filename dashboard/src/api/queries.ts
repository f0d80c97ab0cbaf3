import { queryOptions } from '@tanstack/react-query';
import type { EntitySchema } from '../forms/schema.ts';
import { call } from './client.ts';

/** A row of an entity, as the Admin API shows it. */
export interface Row {
  readonly id: string;
  readonly created_at?: number;
  readonly updated_at?: number;
  readonly tags?: readonly string[] | null;
  readonly enabled?: boolean;
  readonly [field: string]: unknown;
}

export interface Caller {
  readonly kind: 'token' | 'anonymous' | 'user' | 'cli';
  readonly name: string;
  readonly role: 'read' | 'edit' | 'admin';
  readonly tag_patterns: readonly string[] | null;
}

/** Who uses the dashboard, and with which rights. */
export const callerQuery = queryOptions({
  queryKey: ['caller'],
  queryFn: ({ signal }) => call<Caller>('GET', '/admin-users/me', { signal }),
  staleTime: 30_000,
});

export interface NodeInfo {
  readonly sluicegate_version: string;
  readonly hostname: string;
  readonly plugins: { readonly available_on_server: Readonly<Record<string, unknown>> };
  readonly configuration: Readonly<Record<string, unknown>>;
}

export const nodeQuery = queryOptions({
  queryKey: ['node'],
  queryFn: ({ signal }) => call<NodeInfo>('GET', '/', { signal }),
  staleTime: 60_000,
});

/** An entity of `GET /schemas`. */
export interface EntityInfo {
  readonly name: string;
  /** Of its collection; null: it exists below a parent only. */
  readonly path: string | null;
  readonly endpoint_key: string | null;
  readonly in_config: boolean;
  readonly tags: boolean;
  readonly references: readonly { readonly field: string; readonly entity: string; readonly on_delete: string }[];
  readonly nested_under: readonly { readonly entity: string; readonly field: string; readonly path: string }[];
}

export interface PluginInfo {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly protocols: readonly string[];
}

export interface SchemaList {
  readonly entities: readonly EntityInfo[];
  readonly plugins: readonly PluginInfo[];
}

export const schemaListQuery = queryOptions({
  queryKey: ['schemas'],
  queryFn: ({ signal }) => call<SchemaList>('GET', '/schemas', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** `name`: `services`, or `plugins/key-auth`. */
export function schemaQuery(name: string) {
  return queryOptions({
    queryKey: ['schema', name],
    queryFn: ({ signal }) => call<EntitySchema>('GET', `/schemas/${name}`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

interface Page {
  readonly data: readonly Row[];
  readonly next: string | null;
}

/** Rows that a list loads; of a larger one, the first. */
export const maxRows = 20_000;

export interface RowList {
  readonly rows: readonly Row[];
  /** False: there are more. */
  readonly complete: boolean;
}

/** All rows of a collection, up to a limit. `path`: with its query, if it has one. */
export function rowsQuery(path: string, limit = maxRows) {
  return queryOptions({
    queryKey: ['rows', path, limit],
    queryFn: async ({ signal }): Promise<RowList> => {
      const rows: Row[] = [];
      let next: string | null = `${path}${path.includes('?') ? '&' : '?'}size=${Math.min(1000, limit)}`;
      while (next !== null && rows.length < limit) {
        const page: Page = await call<Page>('GET', next, { signal });
        rows.push(...page.data);
        next = page.next;
      }
      return { rows, complete: next === null };
    },
  });
}

export function rowQuery(path: string, id: string) {
  return queryOptions({
    queryKey: ['row', path, id],
    queryFn: ({ signal }) => call<Row>('GET', `${path}/${encodeURIComponent(id)}`, { signal }),
  });
}
