import { parseAddress } from '../schema/address.ts';
import { autoId, cookieName, createdAt, headerName, path, tags, updatedAt } from '../schema/common-fields.ts';
import type { EntityCheck } from '../schema/entity-checks.ts';
import { boolean, integer, number, string } from '../schema/fields.ts';
import { hostWithPortProblem } from '../schema/formats.ts';
import { foreign, record } from '../schema/record.ts';
import { defineEntity } from './define-entity.ts';
import type { PrepareContext } from './entity.ts';
import { healthchecks } from './healthchecks.ts';

const HASH_INPUTS = ['none', 'consumer', 'ip', 'header', 'cookie', 'path', 'query_arg', 'uri_capture'] as const;

/** Algorithms that do not hash. */
const WITHOUT_HASHING: readonly unknown[] = ['least-connections', 'latency'];

const schema = record(
  {
    id: autoId(),
    created_at: createdAt(),
    updated_at: updatedAt(),
    name: string({
      required: true,
      unique: true,
      custom: nameProblem,
      description: 'Name of the upstream, a hostname; services refer to it as their host.',
    }),
    algorithm: string({
      required: true,
      default: 'round-robin',
      one_of: ['consistent-hashing', 'least-connections', 'round-robin', 'latency'],
      description: 'How a target is chosen. Setting `hash_on` sets it to `consistent-hashing`.',
    }),
    hash_on: hashInput('What is hashed to choose a target.'),
    hash_fallback: hashInput('What is hashed if `hash_on` gives nothing.'),
    hash_on_header: headerName({ description: 'Header to hash.' }),
    hash_fallback_header: headerName({ description: 'Header to hash as a fallback.' }),
    hash_on_cookie: cookieName({ description: 'Cookie to hash. It is set if the client sends none.' }),
    hash_on_cookie_path: path({ required: true, default: '/', description: 'Path of the cookie that is set.' }),
    hash_on_query_arg: string({ description: 'Query parameter to hash.' }),
    hash_fallback_query_arg: string({ description: 'Query parameter to hash as a fallback.' }),
    hash_on_uri_capture: string({ description: "Group of the route's regular expression to hash." }),
    hash_fallback_uri_capture: string({
      description: "Group of the route's regular expression to hash as a fallback.",
    }),
    slots: integer({
      required: true,
      default: 10000,
      between: [10, 65536],
      description: 'Number of slots in the ring of consistent hashing.',
    }),
    slow_start: number({
      required: true,
      default: 0,
      between: [0, 3600],
      unit: 's',
      description:
        'Time in which a target that was added or has recovered grows to its full share. 0: at once. Not in Kong.',
    }),
    healthchecks,
    tags: tags(),
    host_header: string({
      custom: hostWithPortProblem,
      description: "Host header sent to the targets; unset: the target's name.",
    }),
    client_certificate: foreign('certificates', { description: 'Certificate shown to the targets.' }),
    use_srv_name: boolean({
      required: true,
      default: false,
      description: 'Whether the name in an SRV record is used as the Host header.',
    }),
  },
  { checks: hashingChecks() },
);

export const upstreams = defineEntity({
  name: 'upstreams',
  path: 'upstreams',
  endpointKey: 'name',
  schema,
  prepare: applyHashingRules,
  nestedUnder: [{ entity: 'certificates', field: 'client_certificate', path: 'upstreams' }],
});

/**
 * `algorithm` and `hash_on` depend on each other. An algorithm without hashing in the body turns hashing off. Otherwise
 * hashing in the whole entity sets the algorithm to consistent-hashing, and no hashing resets it.
 */
function applyHashingRules(
  value: Readonly<Record<string, unknown>>,
  { change }: PrepareContext,
): Record<string, unknown> {
  if (WITHOUT_HASHING.includes(change['algorithm'])) return { ...value, hash_on: 'none' };
  const hashOn = value['hash_on'] ?? 'none';
  if (!HASH_INPUTS.some((input) => input === hashOn)) return { ...value };
  if (hashOn !== 'none') return { ...value, algorithm: 'consistent-hashing' };
  const algorithm = value['algorithm'] ?? 'round-robin';
  const isKept = WITHOUT_HASHING.includes(algorithm) && change['hash_on'] !== 'none';
  const isRewritten = algorithm === 'consistent-hashing' || (WITHOUT_HASHING.includes(algorithm) && !isKept);
  return { ...value, hash_on: 'none', algorithm: isRewritten ? 'round-robin' : algorithm };
}

function hashingChecks(): readonly EntityCheck[] {
  return [
    needs('hash_on', 'header', 'hash_on_header'),
    needs('hash_fallback', 'header', 'hash_fallback_header'),
    needs('hash_on', 'cookie', 'hash_on_cookie'),
    needs('hash_fallback', 'cookie', 'hash_on_cookie'),
    fallbackOneOf('none', ['none']),
    fallbackOneOf('cookie', ['none']),
    ...(['consumer', 'ip', 'path'] as const).map((input) =>
      fallbackOneOf(
        input,
        HASH_INPUTS.filter((other) => other !== input),
      ),
    ),
    { distinct: ['hash_on_header', 'hash_fallback_header'] },
    needs('hash_on', 'query_arg', 'hash_on_query_arg'),
    needs('hash_fallback', 'query_arg', 'hash_fallback_query_arg'),
    { distinct: ['hash_on_query_arg', 'hash_fallback_query_arg'] },
    needs('hash_on', 'uri_capture', 'hash_on_uri_capture'),
    needs('hash_fallback', 'uri_capture', 'hash_fallback_uri_capture'),
    { distinct: ['hash_on_uri_capture', 'hash_fallback_uri_capture'] },
  ];
}

function needs(field: string, value: string, then: string): EntityCheck {
  return {
    conditional: {
      if_field: field,
      if_match: { one_of: [value] },
      then_field: then,
      then_match: { required: true },
    },
  };
}

function fallbackOneOf(hashOn: string, allowed: readonly string[]): EntityCheck {
  return {
    conditional: {
      if_field: 'hash_on',
      if_match: { one_of: [hashOn] },
      then_field: 'hash_fallback',
      then_match: { one_of: allowed },
    },
  };
}

function hashInput(description: string) {
  return string({ required: true, default: 'none', one_of: HASH_INPUTS, description });
}

function nameProblem(text: string): string | null {
  const parsed = parseAddress(text);
  if (!parsed.ok) return `Invalid name ('${text}'); must be a valid hostname`;
  if (parsed.address.kind !== 'name') return `Invalid name ('${text}'); no ip addresses allowed`;
  return parsed.address.port === null ? null : `Invalid name ('${text}'); no port allowed`;
}
