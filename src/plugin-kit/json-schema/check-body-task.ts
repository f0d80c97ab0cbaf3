import { compileSchema, type SchemaCheck, type Violation } from './compile-schema.ts';
import type { PreparedSchema } from './prepare-schema.ts';
import { readStrictJson } from './strict-json.ts';

/** Throws a `BodySyntaxError` when the body is not JSON. */
export function checkBody(check: SchemaCheck, body: Uint8Array, most: number): readonly Violation[] {
  return check(readStrictJson(body), body.byteLength, most);
}

/** Characters of schemas whose compiled form is kept. */
const maxKept = 8_000_000;
let keptSize = 0;
const kept = new Map<string, SchemaCheck>();

/** The same in a thread of its own, which caches compiled schemas. `schema`: a `PreparedSchema` as JSON. */
export function checkBodyOffThread(schema: string, body: Uint8Array, most: number): readonly Violation[] {
  let check = kept.get(schema);
  if (check === undefined) {
    check = compileSchema(JSON.parse(schema) as PreparedSchema);
    if (keptSize > maxKept) kept.clear();
    keptSize = (kept.size === 0 ? 0 : keptSize) + schema.length;
    kept.set(schema, check);
  }
  return checkBody(check, body, most);
}
