import { compileSchema, type SchemaCheck, type Violation } from './compile-schema.ts';
import type { PreparedSchema } from './prepare-schema.ts';
import { readStrictJson } from './strict-json.ts';

/** Throws a `BodySyntaxError` when the body is not JSON. */
export function judgeBody(check: SchemaCheck, body: Uint8Array, most: number): readonly Violation[] {
  return check(readStrictJson(body), body.byteLength, most);
}

/** Characters of schemas whose compiled form is kept. */
const mostKept = 8_000_000;
let keptSize = 0;
const kept = new Map<string, SchemaCheck>();

/** The same in a thread of its own, which remembers what it compiled. `schema`: a `PreparedSchema` as JSON. */
export function judgeBodyApart(schema: string, body: Uint8Array, most: number): readonly Violation[] {
  let check = kept.get(schema);
  if (check === undefined) {
    check = compileSchema(JSON.parse(schema) as PreparedSchema);
    if (keptSize > mostKept) kept.clear();
    keptSize = (kept.size === 0 ? 0 : keptSize) + schema.length;
    kept.set(schema, check);
  }
  return judgeBody(check, body, most);
}
