import type { JsonObject } from '../../../plugin-kit/json/index.ts';
import { isJsonObject } from '../../../plugin-kit/json/index.ts';
import { SchemaError } from '../../../plugin-kit/json-schema/index.ts';
import { readDocument, readOperations } from '../../../plugin-kit/openapi/index.ts';
import { type Plan, type PlanOptions, planOf } from './plan-api.ts';
import { type ImportWarning, warningsOf } from './warnings.ts';

/** Maximum operations of one import: each is a route, and all are written in one transaction. */
const maxRoutes = 1_000;

/** What an import of a document writes. */
export type PlannedImport =
  | { readonly ok: true; readonly plan: Plan; readonly api: JsonObject; readonly warnings: readonly ImportWarning[] }
  /** Why the document is refused. `place`: a JSON pointer into it, '' for the whole. */
  | { readonly ok: false; readonly place: string; readonly message: string };

/** Reads a document of a client and plans its import. Takes up to seconds: run it in another thread. */
export function planImport(text: string, options: PlanOptions): PlannedImport {
  try {
    const document = readDocument(text);
    const operations = readOperations(document);
    if (operations.length > maxRoutes) throw new SchemaError('/paths', `has more than ${maxRoutes} operations`);
    const plan = planOf(document, text, options);
    return { ok: true, plan, api: apiFields(document, text), warnings: warningsOf(document, operations) };
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const [, place, reason] = /^(\/\S*): (.+)$/s.exec(error.message) ?? [];
    return { ok: false, place: place ?? '', message: reason ?? error.message };
  }
}

/** The fields of the API that stands for the document. */
export function apiFields(document: JsonObject, text: string): JsonObject {
  const { title, version } = isJsonObject(document['info']) ? document['info'] : {};
  return {
    title: typeof title === 'string' && title !== '' ? title.slice(0, 1024) : null,
    version: typeof version === 'string' && version !== '' ? version.slice(0, 256) : null,
    document: text,
  };
}
