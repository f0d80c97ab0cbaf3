/**
 * The vocabulary of a plugin's `schema.ts`. It stands apart from `index.ts` because it brings the validation library,
 * which only the control plane needs.
 */
export { defineEntity, type EntityDescription } from '../entities/define-entity.ts';
export type { ConcealContext, Concealed, EntityDefinition, Row, RowWriter } from '../entities/entity.ts';
export { revokeSession } from '../entities/revoked-sessions.ts';
export * from '../schema/collections.ts';
export * from '../schema/common-fields.ts';
export type { EntityCheck } from '../schema/entity-checks.ts';
export { boolean, type Field, type Infer, integer, number, type RecordSchema, string } from '../schema/fields.ts';
export { foreign, record } from '../schema/record.ts';
export { slowCheck } from '../schema/slow-check.ts';
export * from './limit-fields.ts';
export * from './queue-fields.ts';
export * from './seconds-field.ts';
