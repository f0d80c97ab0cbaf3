import { BoundedCache } from '../../plugin-kit/runtime/index.ts';
import type { BaseContext, RequestView } from '../../plugin-sdk/index.ts';
import { acceptedVersion } from './media-types.ts';
import type { ApiVersioningConfig } from './schema.ts';
import { looksLikeVersion } from './version-names.ts';
import type { VersionTable } from './versions.ts';

/** The version that a request names; `conflict`: it names two. */
export interface Named {
  readonly text: string;
  readonly conflict: boolean;
  /** Start of its segment in the path; -1: it is not from the path. */
  readonly segmentAt: number;
}

export interface Source {
  readonly kind: ApiVersioningConfig['sources'][number];
  /** Request headers that it reads; responses vary by them. */
  readonly headers: readonly string[];
  /** Null: the request names no version. */
  read(request: RequestView): Named | null;
}

const conflict: Named = Object.freeze({ text: '', conflict: true, segmentAt: -1 });

export function sourcesOf(config: ApiVersioningConfig, table: VersionTable): readonly Source[] {
  return config.sources.map((kind) => {
    if (kind === 'path') return pathSource(config.path_segment, table);
    if (kind === 'header') return headerSource(config.header_name);
    if (kind === 'query') return querySource(config.query_name);
    return mediaTypeSource(config, table);
  });
}

/** A segment counts only when it is a version or looks like one: `/users` names none. */
function pathSource(segment: number, table: VersionTable): Source {
  const names = new Set(table.all.map(({ name }) => name));
  return {
    kind: 'path',
    headers: [],
    read({ path }) {
      let start = 1;
      for (let passed = 1; passed < segment; passed++) {
        start = path.indexOf('/', start) + 1;
        if (start === 0) return null;
      }
      const end = path.indexOf('/', start);
      const text = path.slice(start, end < 0 ? undefined : end);
      if (!names.has(text) && !looksLikeVersion(text)) return null;
      return { text, conflict: false, segmentAt: start };
    },
  };
}

function headerSource(name: string): Source {
  return {
    kind: 'header',
    headers: [name],
    read: (request) => oneOf(request.headerValues(name)),
  };
}

function querySource(name: string): Source {
  return {
    kind: 'query',
    headers: [],
    read: (request) => (request.query === '' ? null : oneOf(request.queryArguments()[name] ?? [])),
  };
}

/** With two versions, gateway and backend could each choose a different one. */
function oneOf(values: readonly string[]): Named | null {
  const given = values.map((value) => value.trim()).filter((value) => value !== '');
  const [first] = given;
  if (first === undefined) return null;
  return given.every((value) => value === first) ? { text: first, conflict: false, segmentAt: -1 } : conflict;
}

/** Longer values are not cached: clients could fill the memory. */
const maxKeptLength = 200;

function mediaTypeSource(config: ApiVersioningConfig, table: VersionTable): Source {
  const rules = { parameter: config.media_type_parameter, vendor: config.media_type_vendor, table };
  const known = new BoundedCache<string, Named | false>(256);
  const readField = (field: string): Named | null => {
    const before = known.get(field);
    if (before !== undefined) return before === false ? null : before;
    const text = acceptedVersion(field, rules);
    const named = text === null ? null : { text, conflict: false, segmentAt: -1 };
    if (field.length <= maxKeptLength) known.set(field, named ?? false);
    return named;
  };
  return {
    kind: 'media_type',
    headers: ['Accept'],
    read(request) {
      const accept = request.headerValues('accept');
      const named = accept.length === 0 ? null : readField(accept.join(', '));
      if (named !== null) return named;
      const type = request.header('content-type');
      return type === null ? null : readField(type);
    },
  };
}

/** Tries the sources in order. `checked`: the number of sources tried. */
export function checkSources(
  sources: readonly Source[],
  { request }: BaseContext,
): { readonly named: Named | null; readonly checked: number } {
  for (let at = 0; at < sources.length; at++) {
    const named = sources[at]?.read(request) ?? null;
    if (named !== null) return { named, checked: at + 1 };
  }
  return { named: null, checked: sources.length };
}
