import { BodySyntaxError } from '../json/body-syntax-error.ts';
import { OffThreadError, offThread } from '../runtime/off-thread.ts';
import { checkBody } from './check-body-task.ts';
import { compileSchema, type SchemaCheck, type Violation } from './compile-schema.ts';
import type { PreparedSchema } from './prepare-schema.ts';

/** Result for a body. `syntax`: it is not JSON, or parsers could disagree about it. `busy`: it could not be validated in time. */
export type Verdict =
  | { readonly kind: 'right' }
  | { readonly kind: 'wrong'; readonly violations: readonly Violation[] }
  | { readonly kind: 'syntax'; readonly message: string }
  | { readonly kind: 'busy' };

/** `client`: the IP address of the client; clients with large bodies are scheduled fairly. */
export type BodyChecker = (body: Uint8Array, most: number, client: string) => Verdict | Promise<Verdict>;

/**
 * Bytes above which a body is checked in another thread. Measured: reading and checking take 10 to 60 ns for each byte, so 6 ms, and
 * about 50 ms for the worst case that the step limit allows (`keywords.ts`).
 */
const largestHere = 98_304;
const apart = offThread<[string, Uint8Array, number], readonly Violation[]>(
  new URL('./check-body-task.ts', import.meta.url),
  'checkBodyOffThread',
);
const right: Verdict = Object.freeze({ kind: 'right' });
const busy: Verdict = Object.freeze({ kind: 'busy' });

/** Checks JSON bodies against a schema. `check`: the same schema, compiled; default: compiled at once, which may throw a `SchemaError`. */
export function bodyChecker(prepared: PreparedSchema, check: SchemaCheck = compileSchema(prepared)): BodyChecker {
  let text: string | null = null;
  return (body, most, client) => {
    if (body.byteLength <= largestHere) return checkHere(check, body, most);
    text ??= JSON.stringify(prepared);
    return apart.forClient(client, text, body, most).then(verdictOf, verdictOfFault);
  };
}

function checkHere(check: SchemaCheck, body: Uint8Array, most: number): Verdict {
  try {
    return verdictOf(checkBody(check, body, most));
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
