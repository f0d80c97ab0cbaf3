import type { UsageResolution } from '../../../store/usage-store.ts';
import type { Analytics } from '../../../usage/analytics.ts';
import { lengths, resolutions, startOf } from '../../../usage/periods.ts';
import type { Grouping, UsageFilter } from '../../../usage/usage-reader.ts';
import type { Query } from '../../http/query.ts';
import { refuseUnknown } from '../../lists/known-parameters.ts';
import { invalidOptions } from '../../lists/list-errors.ts';
import { readInstant } from '../../lists/list-request.ts';

/** Names or ids; '' for requests without. */
export type NamedFilter = 'route' | 'service' | 'consumer';
const namedFilters: readonly NamedFilter[] = ['route', 'service', 'consumer'];
const plainFilters = ['version', 'node'] as const;

export interface UsageRequest {
  readonly range: Pick<UsageFilter, 'from' | 'to' | 'resolution'>;
  /** The client did not specify the resolution. */
  readonly anyResolution: boolean;
  /** As the client wrote them: several of a kind are alternatives. */
  readonly named: ReadonlyMap<NamedFilter, readonly string[]>;
  readonly plain: ReadonlyMap<(typeof plainFilters)[number], readonly string[]>;
  /** Null: of any status. */
  readonly statuses: StatusRanges | null;
  /** All filters, with the range as resolved; for links to further pages. */
  readonly given: readonly (readonly [name: string, value: string])[];
}

type StatusRanges = NonNullable<UsageFilter['statuses']>;

/** Milliseconds. The default range. */
const defaultSpan = 3_600_000;
/** Maximum minutes, hours and days of one request. */
const maxPeriods: Readonly<Record<UsageResolution, number>> = { minute: 10_080, hour: 2_400, day: 4_000 };
/** Spans up to which each resolution is the default. */
const defaultSpans: readonly (readonly [UsageResolution, number])[] = [
  ['minute', 6 * lengths.hour],
  ['hour', 14 * lengths.day],
];
/** The years 2000 and 10000: an instant beyond them has the wrong unit. */
const maxValues = 50;

const groupable = ['node', 'route', 'service', 'consumer', 'version', 'status'] as const;
const groupNames: readonly string[] = [...groupable, ...resolutions];

const firstInstant = Date.UTC(2000, 0);
const lastInstant = Date.UTC(10_000, 0);

const instant = {
  anyOf: [
    { type: 'string', format: 'date-time' },
    { type: 'integer', minimum: firstInstant / 1000, exclusiveMaximum: lastInstant / 1000 },
  ],
};

export const filterParameters = [
  {
    name: 'from',
    description: 'Start of the range, inclusive: ISO 8601, or seconds since the epoch. Default: an hour before `to`.',
    schema: instant,
  },
  { name: 'to', description: 'End of the range, exclusive. Default: now.', schema: instant },
  {
    name: 'resolution',
    description: 'Resolution of the rows to read. Default: depends on the length of the range.',
    schema: { type: 'string', enum: ['minute', 'hour', 'day'] },
  },
  {
    name: 'route',
    description: 'Only requests of the route with this id or name; empty: of none. May come repeatedly.',
  },
  { name: 'service', description: 'Only requests of the service with this id or name; as `route`.' },
  { name: 'consumer', description: 'Only requests of the consumer with this id, username or custom_id; as `route`.' },
  { name: 'version', description: 'Only requests for this version of the API; empty: for none.' },
  {
    name: 'status',
    description: 'Only answers with these statuses: `404`, `5xx`, or a comma-separated list.',
    schema: { type: 'string', pattern: '^[1-5](?:xx|[0-9]{2})(?:,[1-5](?:xx|[0-9]{2}))*$' },
  },
  { name: 'node', description: 'Only requests to the node with this id.' },
] as const;

const filterNames: readonly string[] = filterParameters.map(({ name }) => name);

/**
 * @param others Parameters of the path in addition to the filters.
 * @param time Groups are of one such time each.
 * @param least The finest default resolution.
 */
export function readUsageRequest(
  query: Query,
  others: readonly string[],
  time: UsageResolution | null,
  analytics: Pick<Analytics, 'now' | 'retention'>,
  least: UsageResolution,
): UsageRequest {
  refuseUnknown(query, [...filterNames, ...others]);
  const range = readRange(query, time, analytics, least);
  const named = new Map(namedFilters.map((name) => [name, query.all(name)] as const));
  const plain = new Map(plainFilters.map((name) => [name, query.all(name)] as const));
  for (const [name, values] of [...named, ...plain]) {
    if (values.length > maxValues) throw invalidOptions({ [name]: `must not be given more than ${maxValues} times` });
  }
  const anyResolution = time === null && query.first('resolution') === undefined;
  return {
    range,
    anyResolution,
    named,
    plain,
    statuses: readStatuses(query.all('status')),
    given: givenOf(query, range),
  };
}

export function readOnce(query: Query, name: string): string | undefined {
  const values = query.all(name);
  if (values.length > 1) throw invalidOptions({ [name]: 'must be given once' });
  return values[0];
}

/** `route,service,hour`; left out: everything but the node, by time. */
export function readGrouping(query: Query): Grouping | null {
  const text = readOnce(query, 'group_by');
  if (text === undefined) return null;
  const names = text === '' ? [] : text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !groupNames.includes(name));
  if (unknown !== undefined) throw invalidOptions({ group_by: `'${unknown}' is none of ${groupNames.join(', ')}` });
  if (new Set(names).size < names.length) throw invalidOptions({ group_by: 'must name each only once' });
  const times = resolutions.filter((resolution) => names.includes(resolution));
  if (times.length > 1) throw invalidOptions({ group_by: 'must not name more than one of minute, hour, day' });
  return { by: groupable.filter((name) => names.includes(name)), time: times[0] ?? null };
}

export function everything(time: UsageResolution): Grouping {
  return { by: groupable.filter((name) => name !== 'node'), time };
}

function readRange(
  query: Query,
  time: UsageResolution | null,
  analytics: Pick<Analytics, 'now' | 'retention'>,
  least: UsageResolution,
): UsageRequest['range'] {
  const now = analytics.now();
  // Requests that are counted at this moment are included.
  const to = readTime(query, 'to') ?? now + 1;
  const from = readTime(query, 'from') ?? to - defaultSpan;
  if (from >= to) throw invalidOptions({ from: 'must be before to' });
  const resolution =
    readResolution(query) ?? time ?? coarser(defaultResolution(from, to, now, analytics.retention), least);
  if (time !== null && lengths[resolution] > lengths[time]) {
    throw invalidOptions({ resolution: `must not be coarser than the ${time} in group_by` });
  }
  const length = lengths[resolution];
  const range = { resolution, from: startOf(resolution, from), to: startOf(resolution, to - 1) + length };
  if ((range.to - range.from) / length > maxPeriods[resolution]) {
    throw invalidOptions({
      resolution: `from and to are more than ${maxPeriods[resolution]} ${resolution}s apart: choose a shorter range or a coarser resolution`,
    });
  }
  return range;
}

function coarser(one: UsageResolution, other: UsageResolution): UsageResolution {
  return lengths[one] > lengths[other] ? one : other;
}

function readResolution(query: Query): UsageResolution | null {
  const text = readOnce(query, 'resolution');
  if (text === undefined) return null;
  const found = resolutions.find((resolution) => resolution === text);
  if (found === undefined) throw invalidOptions({ resolution: `must be one of ${resolutions.join(', ')}` });
  return found;
}

/** The finest that suits the span and whose rows are still kept. */
function defaultResolution(from: number, to: number, now: number, retention: Analytics['retention']): UsageResolution {
  for (const [resolution, span] of defaultSpans) {
    const kept = retention[resolution] === 0 || from >= now - retention[resolution];
    if (to - from <= span && kept) return resolution;
  }
  return 'day';
}

/** Seconds since the epoch, with a fraction if need be, or ISO 8601. */
function readTime(query: Query, name: string): number | null {
  const text = readOnce(query, name);
  if (text === undefined) return null;
  const instant = /^\d{1,12}(?:\.\d{1,9})?$/.test(text) ? Math.floor(Number(text) * 1000) : readInstant(text);
  if (instant === null || instant < firstInstant || instant >= lastInstant) {
    throw invalidOptions({ [name]: 'must be an ISO 8601 timestamp, or seconds since the epoch' });
  }
  return instant;
}

/** `404`, `5xx`: ranges that both the statuses and their first digits alone are in. */
function readStatuses(given: readonly string[]): StatusRanges | null {
  if (given.length === 0) return null;
  const words = given.flatMap((text) => text.split(',')).map((word) => word.trim().toLowerCase());
  if (words.length > maxValues) throw invalidOptions({ status: `must not name more than ${maxValues}` });
  return words.flatMap((word): readonly (readonly [number, number])[] => {
    const first = Number(word[0]);
    if (/^[1-5]xx$/.test(word)) {
      return [
        [first * 100, first * 100 + 99],
        [first, first],
      ];
    }
    if (/^[1-9]\d\d$/.test(word)) return [[Number(word), Number(word)]];
    throw invalidOptions({ status: `'${word}' is neither a status nor a class such as 5xx` });
  });
}

/** The range is written out, so that all pages are about the same time. */
function givenOf(query: Query, { from, to, resolution }: UsageRequest['range']): UsageRequest['given'] {
  const kept = ['route', 'service', 'consumer', 'version', 'status', 'node', 'group_by', 'format'];
  return [
    ['from', isoTime(from)],
    ['to', isoTime(to)],
    ['resolution', resolution],
    ...kept.flatMap((name) => query.all(name).map((value) => [name, value] as const)),
  ];
}

/** Whole seconds. */
export function isoTime(instant: number): string {
  return new Date(instant).toISOString().replace('.000Z', 'Z');
}
