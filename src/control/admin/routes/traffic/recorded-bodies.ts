import type { RecordedBodies } from '../../../../shared/traffic/traffic-record.ts';
import type { KeptRecord } from '../../../traffic/traffic-ring.ts';
import type { Caller } from '../../access/caller.ts';
import { forbidden } from '../../access/forbidden.ts';
import { mayUse } from '../../access/require-access.ts';
import type { AdminRequest } from '../../http/admin-route.ts';
import { invalidOptions } from '../../lists/list-errors.ts';

/** Bytes; as of the setting `traffic_recorder_bodies`. */
const maxBytes = 65_536;

export const bodiesParameter = {
  name: 'bodies',
  description: 'Also record this many bytes of each body. Needs the role `edit`: bodies are data of clients.',
  schema: { type: 'integer', minimum: 0, maximum: maxBytes },
} as const;

/** The parameter `bodies`; 0: not given. Throws 403 for a caller who may not see bodies, so that none are recorded in vain. */
export function readBodies({ query, caller, path }: Pick<AdminRequest, 'query' | 'caller' | 'path'>): number {
  const values = query.all(bodiesParameter.name);
  if (values.length === 0) return 0;
  const [text = ''] = values;
  const bytes = /^\d{1,6}$/.test(text) ? Number(text) : -1;
  if (values.length > 1 || bytes < 0 || bytes > maxBytes) {
    throw invalidOptions({ bodies: `must be given once, a number of bytes between 0 and ${maxBytes}` });
  }
  if (bytes > 0 && !seesBodies(caller)) throw forbidden(caller, `bodies of GET ${path} need the role edit`);
  return bytes;
}

function seesBodies(caller: Caller): boolean {
  return mayUse(caller, 'edit');
}

type Part = Readonly<Record<string, unknown>>;

/** A record with its explanation, and with its bodies if they were recorded and the caller may see them. */
export function wholeRecord({ entry, explanation, bodies }: KeptRecord, caller: Caller): Part {
  const document = parsed<Part>(explanation);
  if (bodies === null || !seesBodies(caller)) return { ...entry, explanation: document };
  const { request, response } = parsed<RecordedBodies>(bodies);
  const shown = document['request'] as Part | null | undefined;
  return {
    ...entry,
    explanation: {
      ...document,
      ...(request === null ? {} : { request: { ...shown, body: request } }),
      response: { body: response },
    },
  };
}

function parsed<T>({ buffer, byteOffset, byteLength }: Uint8Array): T {
  return JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString()) as T;
}
