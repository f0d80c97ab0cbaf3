import type { Row } from '../../../shared/entities/entity.ts';
import { notFoundByKey } from '../../../shared/schema/errors.ts';
import type { StoreReader } from '../../store/store.ts';
import type { AdminContext, EntityExtras } from '../crud/admin-context.ts';
import { segmentOf } from '../crud/entity-handlers.ts';
import { one, replace } from '../crud/entity-routes.ts';
import { findEntity, idOf, referenceOf } from '../crud/find-entity.ts';
import type { Input } from '../crud/input.ts';
import { showEntity } from '../crud/show-entity.ts';
import { putEntity, putTarget, readInput } from '../crud/write-entity.ts';
import { kongError } from '../errors.ts';
import { type AdminRequest, type Answer, type Operation, ok } from '../http/admin-route.ts';
import { plainError } from '../http/http-error.ts';
import { snisOf, writeSnis } from './certificate-snis.ts';

/** A certificate is identified by its id or by one of its SNIs; `snis` reads and writes the names of its SNIs. */
export function certificateExtras(context: AdminContext): EntityExtras {
  return {
    async findByName(reader, name) {
      const row = await certificateOf(reader, name);
      if (row === null) throw plainError(404, 'SNI not found');
      return row;
    },
    virtuals: (reader, rows) =>
      Promise.all(rows.map(async (row) => ({ snis: [...(await snisOf(reader, row.id)).keys()].sort() }))),
    async afterWrite(writer, row, { snis }) {
      if (snis === undefined) return;
      const names = Array.isArray(snis) ? snis.filter((name) => typeof name === 'string') : [];
      await writeSnis(writer, context.entity('snis'), row.id, names);
    },
  };
}

/** Kong reports a missing id with code 6 here, unlike everywhere else. */
export function certificateRead(context: AdminContext): Operation {
  return {
    access: 'read',
    handle: async (request) => {
      const definition = context.entity('certificates');
      const segment = segmentOf(request, definition);
      const row = await findEntity(context, context.store, definition, segment);
      if (row === null) throw kongError(notFoundByKey({ id: segment.toLowerCase() }));
      return ok(await showEntity(context, context.store, definition, row));
    },
    notes: one('Read one of the certificates', 'certificates'),
  };
}

export function certificateReplace(context: AdminContext): Operation {
  return {
    access: 'edit',
    handle: (request) => replaceCertificate(context, request),
    notes: replace('certificates'),
  };
}

/** A PUT without `snis` leaves the certificate with none. An unknown SNI in the path creates a new certificate. */
async function replaceCertificate(context: AdminContext, request: AdminRequest): Promise<Answer> {
  const definition = context.entity('certificates');
  const segment = segmentOf(request, definition);
  const id = idOf(segment);
  const input = withSni(readInput(definition, request.body), id === null ? segment : null);
  const json = await context.commit(request, async (writer) => {
    const existing = await (id === null ? certificateOf(writer, segment) : writer.get('certificates', id));
    return putEntity(context, writer, definition, putTarget(segment), existing, input);
  });
  return ok(json);
}

function withSni(input: Input, name: string | null): Input {
  const snis = input['snis'] ?? [];
  if (!Array.isArray(snis) || input['snis'] == null || name === null || snis.includes(name)) return { ...input, snis };
  return { ...input, snis: [...snis, name] };
}

async function certificateOf(reader: StoreReader, sniName: string): Promise<Row | null> {
  const sni = await reader.findBy('snis', 'name', sniName);
  const id = sni === null ? null : referenceOf(sni, 'certificate');
  return id === null ? null : reader.get('certificates', id);
}
