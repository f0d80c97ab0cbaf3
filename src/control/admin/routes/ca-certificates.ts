import { referencedByOthers } from '../../../shared/schema/errors.ts';
import type { EntityExtras } from '../crud/admin-context.ts';
import { kongError } from '../errors.ts';
import { iterateRows } from '../lists/iterate-rows.ts';

/** Services refer to their authorities by a list of ids, which no foreign key protects. */
export const caCertificateExtras: EntityExtras = {
  async beforeDelete(reader, row) {
    for await (const service of iterateRows(reader, 'services')) {
      const ids = service['ca_certificates'];
      if (!Array.isArray(ids) || !ids.includes(row.id)) continue;
      const message = `ca certificate ${row.id} is still referenced by services (id = ${service.id})`;
      throw kongError(referencedByOthers(message));
    }
  },
};
