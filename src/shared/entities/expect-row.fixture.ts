import assert from 'node:assert/strict';
import { violationMessage } from '../schema/violation-message.ts';
import type { EntityDefinition, Row } from './entity.ts';
import { applyPatch, buildRow } from './rows.ts';

type Fields = Readonly<Record<string, unknown>>;

export const NOW = 1_700_000_000_123;

/** The row that a POST of this body creates. */
export function created(definition: EntityDefinition, body: Fields): Row {
  const result = buildRow(definition, body, { now: NOW });
  assert.ok(result.ok, result.ok ? undefined : violationMessage(result.error.fields));
  return result.row;
}

/** The row after a PATCH. */
export function patched(definition: EntityDefinition, stored: Row, body: Fields): Row {
  const result = applyPatch(definition, stored, body, { now: NOW + 5000 });
  assert.ok(result.ok, result.ok ? undefined : violationMessage(result.error.fields));
  return result.row;
}

/** The error message for a POST of this body. */
export function refusal(definition: EntityDefinition, body: Fields): string {
  const result = buildRow(definition, body, { now: NOW });
  assert.ok(!result.ok, 'the body was accepted');
  return violationMessage(result.error.fields);
}

/** The error message for a PATCH. */
export function patchRefusal(definition: EntityDefinition, stored: Row, body: Fields): string {
  const result = applyPatch(definition, stored, body, { now: NOW });
  assert.ok(!result.ok, 'the body was accepted');
  return violationMessage(result.error.fields);
}
