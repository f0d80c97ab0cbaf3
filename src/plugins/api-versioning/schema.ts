import type { EntityCheck, Infer } from '../../plugin-sdk/schema.ts';
import { array, boolean, headerName, integer, path, record, string } from '../../plugin-sdk/schema.ts';
import { timeOf } from './dates.ts';
import { numbersOf, sameVersion } from './version-names.ts';

const dateField = (description: string) =>
  string({ custom: (value: string) => (timeOf(value) === null ? dateFault : null), description });
const dateFault = 'must be a date as in 2026-01-31 or 2026-01-31T12:00:00Z';

const linkField = (description: string) =>
  string({ match: /^[!#-;=?-_a-z~%]{1,1024}$/, err: 'must be a URL, or a path, without spaces', description });

const version = record(
  {
    name: string({
      required: true,
      match: /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/,
      err: 'must be 1 to 32 letters, digits, dots, hyphens and underscores',
      description:
        'Name of the version: `v1`, `2`, `2026-01-31`. In headers, queries and media types `1`, `v1` and `V1` are the same.',
    }),
    service: string({
      description:
        "Name or id of the service for this version, with its own address, path and timeouts. Null: the route's own.",
    }),
    upstream: string({
      description: 'Name of the upstream for this version. Everything else stays as in the service.',
    }),
    path_prefix: path({ description: "Prefix of the request's path, after the path of the service." }),
    deprecated_at: dateField(
      'Date from which the version is deprecated, in UTC; may be in the future. Responses have it in `Deprecation` (RFC 9745). A date, or a date and time.',
    ),
    sunset_at: dateField(
      'Date from which the version ends, in UTC. Responses have it in `Sunset` (RFC 8594). A date, or a date and time.',
    ),
    deprecation_link: linkField('URL that explains the deprecation: `Link` with `rel="deprecation"`.'),
    sunset_link: linkField('URL that explains the end: `Link` with `rel="sunset"`.'),
    successor_link: linkField('URL of the next version: `Link` with `rel="successor-version"`.'),
  },
  { description: 'A version, and who answers for it.' },
);

export const config = record({
  versions: array(version, { required: true, len_min: 1, len_max: 64, description: 'The versions of the API.' }),
  sources: array(
    string({
      one_of: ['path', 'header', 'query', 'media_type'],
      description: 'A place where requests name a version.',
    }),
    {
      required: true,
      default: ['path'],
      len_min: 1,
      len_max: 4,
      description: 'Places where requests name the version, in this order. The first one that names a version counts.',
    },
  ),
  default: string({
    description: 'Version of requests that name none. Null: they are treated like requests for an unknown version.',
  }),
  unknown: string({
    required: true,
    default: 'not_found',
    one_of: ['not_found', 'default', 'nearest_lower'],
    description:
      'Response to requests for an unknown version: 404 with the list, the `default`, or the next lower version (404 if there is none).',
  }),
  path_segment: integer({
    required: true,
    default: 1,
    between: [1, 32],
    description: 'Source `path`: number of the segment that names the version; 2 for `/api/v1/users`.',
  }),
  strip_path_segment: boolean({
    required: true,
    default: true,
    description: 'Source `path`: removes the segment from the path for the backend.',
  }),
  header_name: headerName({
    required: true,
    default: 'X-API-Version',
    description: 'Source `header`: name of the header.',
  }),
  query_name: string({
    required: true,
    default: 'version',
    len_max: 64,
    description: 'Source `query`: name of the argument.',
  }),
  strip_query_argument: boolean({
    required: true,
    default: true,
    description: 'Source `query`: removes the argument from the query for the backend.',
  }),
  media_type_parameter: string({
    default: 'version',
    match: /^[A-Za-z0-9-]{1,64}$/,
    description:
      'Source `media_type`: name of the parameter, as in `application/json; version=2`. Of `Accept`, else of `Content-Type`.',
  }),
  media_type_vendor: string({
    match: /^[a-z0-9][a-z0-9.-]{0,63}$/,
    description: 'Source `media_type`: prefix of the version in a type: `vnd.acme` for `application/vnd.acme.v2+json`.',
  }),
  refuse_after_sunset: boolean({
    required: true,
    default: true,
    description: 'Answers requests for a version with 410 from `sunset_at` on.',
  }),
  response_header: headerName({ description: 'Header in which responses name their version. Null: none.' }),
  usage_entries: integer({
    required: true,
    default: 2000,
    between: [0, 100_000],
    description:
      'Number of pairs of version and consumer that are counted separately, 200 bytes each; further ones are counted together. 0: none are counted. A change resets the counts.',
  }),
});

export type ApiVersioningConfig = Infer<typeof config>;

const sources = ['config.versions', 'config.default', 'config.unknown', 'config.sources'];

export const checks: readonly EntityCheck[] = [
  {
    custom_entity_check: {
      field_sources: sources,
      fn: (value) => problemOf(value['config'] as ApiVersioningConfig),
    },
  },
];

function problemOf(config: ApiVersioningConfig): Readonly<Record<string, string>> | null {
  const { versions, default: usual, unknown } = config;
  const names = versions.map(({ name }) => name);
  const twice = names.find((name, at) => names.findIndex((other) => sameVersion(other, name)) !== at);
  if (twice !== undefined) return { 'config.versions': `${twice} is there twice` };
  for (const { name, deprecated_at: deprecated, sunset_at: sunset } of versions) {
    if (deprecated === null || sunset === null) continue;
    if ((timeOf(sunset) ?? 0) < (timeOf(deprecated) ?? 0)) {
      return { 'config.versions': `${name} must not end before it is deprecated` };
    }
  }
  if (usual !== null && !names.includes(usual)) return { 'config.default': 'must be one of the versions' };
  if (unknown === 'default' && usual === null) return { 'config.default': 'required when unknown is default' };
  if (unknown === 'nearest_lower') {
    const other = names.find((name) => numbersOf(name) === null);
    if (other !== undefined) return { 'config.versions': `${other} has no place in an order: use numbers or dates` };
  }
  const nowhere = config.media_type_parameter === null && config.media_type_vendor === null;
  if (nowhere && config.sources.includes('media_type')) {
    return { 'config.media_type_parameter': 'required for the source media_type, unless media_type_vendor is set' };
  }
  return null;
}
