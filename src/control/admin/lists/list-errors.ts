import * as schemaErrors from '../../../shared/schema/errors.ts';
import { kongError } from '../errors.ts';
import type { HttpError } from '../http/http-error.ts';
import type { BadCursor } from './cursor-token.ts';

/** Kong's code 7, used for `offset` and, with the same text, for `cursor`. */
export function invalidCursor(parameter: 'offset' | 'cursor', token: string, reason: BadCursor): HttpError {
  const { status, body } = schemaErrors.invalidOffset(token, reason);
  const message = `'${token}' is not a valid ${parameter}: ${reason}`;
  return kongError({ status, body: { ...body, message } });
}

/** Kong's code 9, used for `size` and, with the same text, for `limit`. */
export function invalidSize(message: string): HttpError {
  return kongError(schemaErrors.invalidSize(message));
}

/** Kong's code 11. Several options may be wrong at once. */
export function invalidOptions(options: Readonly<Record<string, string>>): HttpError {
  return kongError(schemaErrors.invalidOptions(options));
}
