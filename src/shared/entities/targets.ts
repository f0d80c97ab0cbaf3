import { formatAddress, parseAddress } from '../schema/address.ts';
import { autoId, preciseTimestamp, tags } from '../schema/common-fields.ts';
import { integer, string } from '../schema/fields.ts';
import { extendRecord, foreign, record } from '../schema/record.ts';
import { defineEntity } from './define-entity.ts';

const DEFAULT_PORT = 8000;

const schema = record({
  id: autoId(),
  created_at: preciseTimestamp('When the target was created.'),
  updated_at: preciseTimestamp('When the target was last written.'),
  upstream: foreign('upstreams', {
    required: true,
    on_delete: 'cascade',
    description: 'The upstream that the target belongs to.',
  }),
  target: address((text) => `Invalid target ('${text}'); not a valid hostname or ip address`),
  weight: integer({
    required: true,
    default: 100,
    between: [0, 65535],
    description: 'Share of the load, relative to the other targets. 0: no requests.',
  }),
  tags: tags(),
});

/** Kong's collection endpoint has another wording for the same error. */
const createSchema = extendRecord(schema, {
  fields: { target: address(() => 'Invalid target; not a valid hostname or ip address') },
});

export const targets = defineEntity({
  name: 'targets',
  path: null,
  endpointKey: 'target',
  schema,
  schemaFor: (_value, operation) => (operation === 'create' ? createSchema : schema),
  prepare: (value) => ({ ...value, ...normalised(value['target']) }),
  timestamps: 'fraction',
  uniqueTogether: [['upstream', 'target']],
  nestedUnder: [{ entity: 'upstreams', field: 'upstream', path: 'targets' }],
});

/** A target as it is stored: with a port, IPv6 in full and in brackets. Null when it is not an address. */
export function normalTarget(text: string): string | null {
  const parsed = parseAddress(text);
  return parsed.ok ? formatAddress(parsed.address, parsed.address.port ?? DEFAULT_PORT) : null;
}

function normalised(value: unknown): { readonly target?: string } {
  const target = typeof value === 'string' ? normalTarget(value) : null;
  return target === null ? {} : { target };
}

function address(message: (text: string) => string) {
  return string({
    required: true,
    custom: (text: string) => (normalTarget(text) === null ? message(text) : null),
    description: `Host or address, with a port (${DEFAULT_PORT} when it is missing).`,
  });
}
