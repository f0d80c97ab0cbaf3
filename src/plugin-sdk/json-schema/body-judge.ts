import { BodySyntaxError } from '../body-syntax-error.ts';
import { OffThreadError, offThread } from '../off-thread.ts';
import { compileSchema, type SchemaCheck, type Violation } from './compile-schema.ts';
import { judgeBody } from './judge-body.ts';
import type { PreparedSchema } from './prepare-schema.ts';

/** What became of a body. `syntax`: it is not JSON, or not the same to all parsers. `busy`: it could not be checked in time. */
export type Verdict =
  | { readonly kind: 'right' }
  | { readonly kind: 'wrong'; readonly violations: readonly Violation[] }
  | { readonly kind: 'syntax'; readonly message: string }
  | { readonly kind: 'busy' };

/** `client`: the IP address of the client; large bodies of different clients are validated in turn. */
export type BodyJudge = (body: Uint8Array, most: number, client: string) => Verdict | Promise<Verdict>;

/**
 * Bytes above which a body is checked in another thread. Measured: reading and checking take 10 to 60 ns for each byte, so 6 ms, and
 * some 50 ms for the worst that steps allow (`keywords.ts`).
 */
const largestHere = 98_304;
const apart = offThread<[string, Uint8Array, number], readonly Violation[]>(
  new URL('./judge-body.ts', import.meta.url),
  'judgeBodyApart',
);
const right: Verdict = Object.freeze({ kind: 'right' });
const busy: Verdict = Object.freeze({ kind: 'busy' });

/** Judges JSON bodies by a schema. `check`: the same schema, compiled; default: it is compiled at once, or throws a `SchemaError`. */
export function bodyJudge(prepared: PreparedSchema, check: SchemaCheck = compileSchema(prepared)): BodyJudge {
  let text: string | null = null;
  return (body, most, client) => {
    if (body.byteLength <= largestHere) return judgeHere(check, body, most);
    text ??= JSON.stringify(prepared);
    return apart.forClient(client, text, body, most).then(verdictOf, verdictOfFault);
  };
}

function judgeHere(check: SchemaCheck, body: Uint8Array, most: number): Verdict {
  try {
    return verdictOf(judgeBody(check, body, most));
  } catch (error) {
    return verdictOfFault(error);
  }
}

function verdictOf(violations: readonly Violation[]): Verdict {
  return violations.length === 0 ? right : { kind: 'wrong', violations };
}

/** An error of the other thread has lost its class, not its name. */
function verdictOfFault(error: unknown): Verdict {
  if (error instanceof OffThreadError) return busy;
  if (error instanceof Error && error.name === BodySyntaxError.name) return { kind: 'syntax', message: error.message };
  throw error;
}
