import { httpDate, structuredDate, timeOf } from './dates.ts';
import type { ApiVersioningConfig } from './schema.ts';
import { compareNumbers, numbersOf, versionKey } from './version-names.ts';

/** A compiled version. */
export interface Version {
  readonly name: string;
  readonly service: string | null;
  readonly upstream: string | null;
  /** '' or a path without a slash at its end. */
  readonly prefix: string;
  /** Milliseconds since the epoch; Infinity: it does not end. */
  readonly sunset: number;
  /** Header lines of its responses. */
  readonly headers: readonly (readonly [string, string])[];
  /** Value of `Link`, or null. */
  readonly link: string | null;
  readonly numbers: readonly number[] | null;
}

export class VersionTable {
  readonly all: readonly Version[];
  readonly usual: Version | null;
  readonly #byKey: ReadonlyMap<string, Version>;
  readonly #unknown: ApiVersioningConfig['unknown'];
  /** Highest first. */
  readonly #falling: readonly Version[];

  constructor(config: ApiVersioningConfig) {
    this.all = config.versions.map(versionOf);
    this.#byKey = new Map(this.all.map((version) => [versionKey(version.name), version]));
    this.usual = this.all.find(({ name }) => name === config.default) ?? null;
    this.#unknown = config.unknown;
    this.#falling = this.all
      .filter(({ numbers }) => numbers !== null)
      .sort((one, other) => compareNumbers(other.numbers ?? [], one.numbers ?? []));
  }

  has(name: string): boolean {
    return this.#byKey.has(versionKey(name));
  }

  /** The version that serves this name, or a request without one (null). Null: no version does. */
  resolve(name: string | null): Version | null {
    if (name === null) return this.usual;
    return this.#byKey.get(versionKey(name)) ?? this.#inPlaceOf(name);
  }

  /** Names of the versions in service at this time. */
  names(now: number): readonly string[] {
    return this.all.filter(({ sunset }) => sunset > now).map(({ name }) => name);
  }

  #inPlaceOf(name: string): Version | null {
    if (this.#unknown === 'default') return this.usual;
    const requested = this.#unknown === 'nearest_lower' ? numbersOf(name) : null;
    if (requested === null) return null;
    return this.#falling.find(({ numbers }) => compareNumbers(numbers ?? [], requested) < 0) ?? null;
  }
}

function versionOf(row: ApiVersioningConfig['versions'][number]): Version {
  const deprecated = row.deprecated_at === null ? null : timeOf(row.deprecated_at);
  const sunset = row.sunset_at === null ? null : timeOf(row.sunset_at);
  const headers: (readonly [string, string])[] = [];
  if (deprecated !== null) headers.push(['Deprecation', structuredDate(deprecated)]);
  if (sunset !== null) headers.push(['Sunset', httpDate(sunset)]);
  return {
    name: row.name,
    service: row.service,
    upstream: row.upstream,
    prefix: (row.path_prefix ?? '').replace(/\/$/, ''),
    sunset: sunset ?? Number.POSITIVE_INFINITY,
    headers,
    link: linkOf(row),
    numbers: numbersOf(row.name),
  };
}

function linkOf(row: ApiVersioningConfig['versions'][number]): string | null {
  const links = [
    [row.deprecation_link, 'deprecation'],
    [row.sunset_link, 'sunset'],
    [row.successor_link, 'successor-version'],
  ];
  const given = links.filter(([target]) => target !== null).map(([target, rel]) => `<${target}>; rel="${rel}"`);
  return given.length === 0 ? null : given.join(', ');
}
