import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import { buildRow } from '../../../shared/entities/rows.ts';
import { invalidUnique } from '../../../shared/schema/errors.ts';
import type { StoreReader, StoreWriter } from '../../store/store.ts';
import { referenceOf } from '../crud/find-entity.ts';
import { invalidInput, kongError } from '../errors.ts';
import { iterateRows } from '../lists/iterate-rows.ts';

/** The SNIs of a certificate by name. */
export async function snisOf(reader: StoreReader, certificate: string): Promise<ReadonlyMap<string, Row>> {
  const rows = new Map<string, Row>();
  for await (const row of iterateRows(reader, 'snis', { where: { certificate } })) rows.set(String(row['name']), row);
  return rows;
}

/**
 * Replaces the names of the certificate: new ones are created, others deleted. A name of another certificate is refused.
 */
export async function writeSnis(
  writer: StoreWriter,
  definition: EntityDefinition,
  certificate: string,
  names: readonly string[],
): Promise<void> {
  const wanted = new Set<string>();
  for (const name of names) {
    if (wanted.has(name)) throw invalidInput({ snis: `${name} is duplicated` });
    wanted.add(name);
  }
  const existing = await snisOf(writer, certificate);
  for (const name of names) {
    if (!existing.has(name)) await createSni(writer, definition, certificate, name);
  }
  for (const [name, sni] of existing) {
    if (!wanted.has(name)) await writer.delete('snis', sni.id);
  }
}

async function createSni(
  writer: StoreWriter,
  definition: EntityDefinition,
  certificate: string,
  name: string,
): Promise<void> {
  const taken = await writer.findBy('snis', 'name', name);
  const owner = taken === null ? null : referenceOf(taken, 'certificate');
  if (owner !== null) throw invalidInput({ snis: `${name} already associated with existing certificate '${owner}'` });
  const built = buildRow(definition, { name, certificate: { id: certificate } }, { now: writer.now });
  if (built.ok) {
    await writer.insert('snis', built.row);
    return;
  }
  const message = built.error.fields['name'];
  throw typeof message === 'string' ? kongError(invalidUnique('name', message)) : invalidInput(built.error.fields);
}
