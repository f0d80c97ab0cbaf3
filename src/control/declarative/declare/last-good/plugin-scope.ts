import type { Row } from '../../../../shared/entities/entity.ts';
import { foreignId } from '../../../../shared/entities/row-fields.ts';
import type { ConfigProblem } from '../../contract.ts';

/** Ids of what a plugin instance is limited to; all null: it runs for all requests. */
export interface Scope {
  readonly route: string | null;
  readonly service: string | null;
  readonly consumer: string | null;
}

/** The scope of a row. */
export function scopeOf(row: Row): Scope {
  return {
    route: foreignId(row, 'route'),
    service: foreignId(row, 'service'),
    consumer: foreignId(row, 'consumer'),
  };
}

/** The scope of an entity with a problem, as far as it is known. */
export function problemScope({ references }: ConfigProblem): Scope {
  return {
    route: references?.['route'] ?? null,
    service: references?.['service'] ?? null,
    consumer: references?.['consumer'] ?? null,
  };
}

/** The document has a reference that leads nowhere. */
export function isScopeUnknown({ input, references, parent }: ConfigProblem): boolean {
  return ['route', 'service', 'consumer'].some(
    (field) => input[field] != null && (references?.[field] == null || parent !== undefined),
  );
}

export function isSameScope(a: Scope, b: Scope): boolean {
  return a.route === b.route && a.service === b.service && a.consumer === b.consumer;
}
