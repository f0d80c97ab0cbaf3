import {
  array,
  boolean,
  type EntityCheck,
  headerName,
  type Infer,
  integer,
  path,
  record,
  string,
} from '../../plugin-sdk/schema.ts';
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
        'The version: `v1`, `2`, `2026-01-31`. In headers, queries and media types `1`, `v1` and `V1` are the same.',
    }),
    service: string({
      description:
        "Name or id of the service that answers, with its own address, path and times. Null: the route's own.",
    }),
    upstream: string({
      description: 'Name of the upstream whose targets answer; all else stays as the service has it.',
    }),
    path_prefix: path({ description: "Goes before the request's path, behind that of the service." }),
    deprecated_at: dateField(
      'From when on it is deprecated, in UTC; may lie ahead. Answers say so in `Deprecation` (RFC 9745). A date, or a date and time.',
    ),
    sunset_at: dateField(
      'When it stops to answer, in UTC. Answers say so in `Sunset` (RFC 8594). A date, or a date and time.',
    ),
    deprecation_link: linkField('Where the deprecation is explained: `Link` with `rel="deprecation"`.'),
    sunset_link: linkField('Where the end is explained: `Link` with `rel="sunset"`.'),
    successor_link: linkField('The version that follows: `Link` with `rel="successor-version"`.'),
  },
  { description: 'A version, and who answers for it.' },
);

export const config = record({
  versions: array(version, { required: true, len_min: 1, len_max: 64, description: 'All versions that there are.' }),
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
      description:
        'Where requests name the version, in the order in which they are asked. The first that names one counts.',
    },
  ),
  default: string({
    description: 'The version of requests that name none. Null: they are answered as if they named an unknown one.',
  }),
  unknown: string({
    required: true,
    default: 'not_found',
    one_of: ['not_found', 'default', 'nearest_lower'],
    description:
      'What a request gets that names a version which does not exist: 404 with the list, the `default`, or the highest version below it, 404 when there is none.',
  }),
  path_segment: integer({
    required: true,
    default: 1,
    between: [1, 32],
    description: 'Source `path`: which segment names the version; 2 for `/api/v1/users`.',
  }),
  strip_path_segment: boolean({
    required: true,
    default: true,
    description: 'Source `path`: the segment is taken out of the path for the backend.',
  }),
  header_name: headerName({ required: true, default: 'X-API-Version', description: 'Source `header`: its name.' }),
  query_name: string({
    required: true,
    default: 'version',
    len_max: 64,
    description: 'Source `query`: the name of the argument.',
  }),
  strip_query_argument: boolean({
    required: true,
    default: true,
    description: 'Source `query`: the argument is taken out of the query for the backend.',
  }),
  media_type_parameter: string({
    default: 'version',
    match: /^[A-Za-z0-9-]{1,64}$/,
    description:
      'Source `media_type`: the parameter, as in `application/json; version=2`. Of `Accept`, else of `Content-Type`.',
  }),
  media_type_vendor: string({
    match: /^[a-z0-9][a-z0-9.-]{0,63}$/,
    description:
      'Source `media_type`: what stands before the version in a type: `vnd.acme` for `application/vnd.acme.v2+json`.',
  }),
  refuse_after_sunset: boolean({
    required: true,
    default: true,
    description: 'From `sunset_at` on a version is answered with 410.',
  }),
  response_header: headerName({ description: 'Answers name their version in this header. Null: they do not.' }),
  usage_entries: integer({
    required: true,
    default: 2000,
    between: [0, 100_000],
    description:
      'For how many pairs of version and consumer requests are counted, 200 bytes each; those beyond are counted together. 0: nothing is. A change begins anew.',
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
