import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import { presentRow } from '../../../shared/entities/rows.ts';
import type { ConfigRows } from '../../declarative/contract.ts';
import { referenceOf } from '../crud/find-entity.ts';

/** Entities in one piece of the answer. */
const perPiece = 100;

/** All entities as JSON, by kind and id: `{"services":{"<id>":{...}}}`. Generated no faster than it is read, in short slices of time. */
export function shownConfig(rows: ConfigRows, { definitions }: EntityRegistry): Readable {
  return Readable.from(pieces(rows, definitions), { highWaterMark: 4 });
}

async function* pieces(rows: ConfigRows, definitions: readonly EntityDefinition[]): AsyncGenerator<Buffer> {
  const names = namesByCertificate(rows['snis'] ?? []);
  let text = '{';
  let separator = '';
  for (const definition of definitions) {
    const entities = rows[definition.name] ?? [];
    if (entities.length === 0) continue;
    text += `${separator}${JSON.stringify(definition.name)}:{`;
    separator = ',';
    for (let at = 0; at < entities.length; at += perPiece) {
      const members = entities.slice(at, at + perPiece).map((row) => memberOf(definition, row, names));
      yield Buffer.from(`${text}${at === 0 ? '' : ','}${members.join(',')}`);
      text = '';
      await nextTurn();
    }
    text += '}';
  }
  yield Buffer.from(`${text}}`);
}

function memberOf(definition: EntityDefinition, row: Row, names: ReadonlyMap<string, readonly string[]>): string {
  const virtual = definition.name === 'certificates' ? { snis: names.get(row.id) ?? [] } : {};
  return `${JSON.stringify(row.id)}:${JSON.stringify(presentRow(definition, row, virtual))}`;
}

function namesByCertificate(snis: readonly Row[]): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const sni of snis) {
    const id = referenceOf(sni, 'certificate') ?? '';
    const known = names.get(id);
    if (known === undefined) names.set(id, [String(sni['name'])]);
    else known.push(String(sni['name']));
  }
  return names;
}
