import type { ConfigProblem, ConfigRows } from '../../../control/declarative/contract.ts';
import { declareConfig } from '../../../control/declarative/declare/declare-config.ts';
import { documentFrom } from '../../../control/declarative/document/parse-document.ts';
import type { Row } from '../../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import type { TouchedRow } from '../../../shared/lookup/calls.ts';
import { type SnapshotDelta, snapshotEntities } from '../../../shared/messages/messages.ts';
import { violationMessage } from '../../../shared/schema/violation-message.ts';
import type { TestConfig } from './contract.ts';

/** The rows of a config, made as a gateway makes them. Throws a `TypeError` that names everything that is wrong with it. */
export async function declaredRows(
  config: TestConfig,
  entities: EntityRegistry,
  current: ConfigRows,
  now: number,
): Promise<ConfigRows> {
  const document = documentFrom({ _format_version: '3.0', ...config }, {});
  const { rows, problems } = await declareConfig(document, { entities, hashKeys: false, current, now });
  if (problems.length > 0) throw new TypeError(`the config is invalid:\n${problems.map(problemLine).join('\n')}`);
  return rows;
}

function problemLine({ path, errors }: ConfigProblem): string {
  return `  ${path.join('.')}: ${violationMessage(errors)}`;
}

/** What leads from the rows of one config to those of another. Rows that are the same object have not changed. */
export function deltaOf(before: ConfigRows, after: ConfigRows, version: number, full: boolean): SnapshotDelta {
  const upserts: Record<string, readonly Row[]> = {};
  const removes: Record<string, readonly string[]> = {};
  const touched: TouchedRow[] = [];
  const known: ReadonlySet<string> = new Set(snapshotEntities);
  for (const entity of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const old = new Map((before[entity] ?? []).map((row) => [row.id, row]));
    const changed = (after[entity] ?? []).filter((row) => old.get(row.id) !== row);
    for (const { id } of after[entity] ?? []) old.delete(id);
    if (known.has(entity)) {
      if (changed.length > 0) upserts[entity] = changed;
      if (old.size > 0) removes[entity] = [...old.keys()];
    } else {
      touched.push(...changed.map((row) => touchedRow(entity, row)));
      touched.push(...[...old.keys()].map((id) => ({ entity, id, values: {} })));
    }
  }
  return { version, full, upserts, removes, touched };
}

/** A row that is found by key, as the workers are notified of its change. */
export function touchedRow(entity: string, row: Row): TouchedRow {
  const values: Record<string, string> = {};
  for (const [field, value] of Object.entries(row)) {
    if (typeof value === 'string') values[field] = value;
    else if (typeof value === 'object' && value !== null && 'id' in value) values[field] = String(value.id);
  }
  return { entity, id: row.id, values };
}
