import { HttpError } from '../http/http-error.ts';
import type { BadCursor } from './cursor-token.ts';

/** Kong's code 7, used for `offset` and, in the same words, for `cursor`. */
export function invalidCursor(parameter: 'offset' | 'cursor', token: string, reason: BadCursor): HttpError {
  return new HttpError(400, {
    code: 7,
    name: 'invalid offset',
    message: `'${token}' is not a valid ${parameter}: ${reason}`,
  });
}

/** Kong's code 9, used for `size` and, in the same words, for `limit`. */
export function invalidSize(message: string): HttpError {
  return new HttpError(400, { code: 9, name: 'invalid size', message });
}

/** Kong's code 11. Several options may be wrong at once. */
export function invalidOptions(options: Readonly<Record<string, string>>): HttpError {
  const names = Object.keys(options).sort();
  const listed = names.map((name) => `${name}: ${options[name]}`).join('; ');
  const message = names.length === 1 ? `invalid option (${listed})` : `${names.length} option violations (${listed})`;
  return new HttpError(400, { code: 11, name: 'invalid options', message, options });
}
