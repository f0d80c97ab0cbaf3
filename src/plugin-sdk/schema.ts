/**
 * The vocabulary of `schema.ts` and `entities.ts` of a plugin: `sluicegate/plugin-sdk/schema`. It is separate from
 * `sluicegate/plugin-sdk` because it loads the validation library, which only the control plane needs.
 *
 * One declaration gives the TypeScript type (`Infer`), the validation with Kong's messages, the defaults,
 * `/schemas/plugins/<name>` and the table of the README. Each field takes `FieldOptions`; a field that is not `required` may
 * be null.
 *
 * @example
 * import { type Infer, integer, record, string } from 'sluicegate/plugin-sdk/schema';
 *
 * export const config = record({
 *   greeting: string({ required: true, default: 'Hello', description: 'First word of the greeting.' }),
 *   status: integer({ between: [400, 499], description: 'Status of a refusal.' }),
 * });
 *
 * export type HelloConfig = Infer<typeof config>; // { greeting: string; status: number | null }
 */

export { credentialFields } from '../shared/entities/credential-fields.ts';
export { defineEntity, type EntityDescription } from '../shared/entities/define-entity.ts';
export type { ConcealContext, Concealed, EntityDefinition, Row, RowWriter } from '../shared/entities/entity.ts';
export { revokeSession } from '../shared/entities/revoked-sessions.ts';
export { array, map, set } from '../shared/schema/collections.ts';
export {
  autoId,
  certificate,
  cookieName,
  createdAt,
  entityName,
  headerName,
  headers,
  host,
  httpMethod,
  ipOrCidr,
  PROTOCOLS,
  path,
  port,
  preciseTimestamp,
  privateKey,
  protocols,
  regex,
  sni,
  tags,
  timeout,
  ttl,
  updatedAt,
  url,
  uuid,
  wildcardHost,
} from '../shared/schema/common-fields.ts';
export type { EntityCheck } from '../shared/schema/entity-checks.ts';
export type { Field, FieldOptions } from '../shared/schema/field-meta.ts';
export {
  boolean,
  type Infer,
  integer,
  number,
  type RecordSchema,
  type Shorthand,
  string,
} from '../shared/schema/fields.ts';
export { foreign, type RecordOptions, record } from '../shared/schema/record.ts';
export { type SlowCheck, slowCheck } from '../shared/schema/slow-check.ts';
