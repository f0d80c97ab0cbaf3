import { referencedByOthers } from '../../schema/errors.ts';
import type { EntityExtras } from '../crud/admin-context.ts';
import { kongError } from '../errors.ts';
import { eachRow } from '../lists/each-row.ts';

/** Services name their authorities in a list of ids, which no foreign key watches over. */
export const caCertificateExtras: EntityExtras = {
  async beforeDelete(reader, row) {
    for await (const service of eachRow(reader, 'services')) {
      const ids = service['ca_certificates'];
      if (!Array.isArray(ids) || !ids.includes(row.id)) continue;
      const message = `ca certificate ${row.id} is still referenced by services (id = ${service.id})`;
      throw kongError(referencedByOthers(message));
    }
  },
};
