import { declarativeConfigInvalid } from '../../../shared/schema/errors.ts';
import { type ConfigProblem, DocumentError } from '../../declarative/contract.ts';
import type { LoadedConfig } from '../../declarative/db-less/declarative-config.ts';
import { flattenErrors } from '../../declarative/problems/flatten-errors.ts';
import { kongFields } from '../../declarative/problems/kong-fields.ts';
import { HttpError } from '../http/http-error.ts';

/** A document that was not loaded at all. */
export function invalidDocument(problems: readonly ConfigProblem[], flatten: boolean): HttpError {
  return new HttpError(400, bodyOf(problems, flatten));
}

/** A document whose invalid entities were left out. `applied` says what was loaded; Kong would load nothing. */
export function partlyLoaded({ problems, changes }: LoadedConfig, flatten: boolean): HttpError {
  const { leftOut, ...counts } = changes;
  return new HttpError(400, { ...bodyOf(problems, flatten), applied: { ...counts, left_out: leftOut } });
}

/** The text cannot be read. Other errors are returned as they are. */
export function unreadableDocument(error: unknown): unknown {
  if (!(error instanceof DocumentError)) return error;
  const { position, message } = error;
  const at = position === null ? '' : `line ${position.line}, column ${position.column}: `;
  const { status, body } = declarativeConfigInvalid({ error: at + message });
  return new HttpError(status, { ...body });
}

/** Maximum characters of the message, which repeats all errors. */
const maxMessage = 16_384;

function bodyOf(problems: readonly ConfigProblem[], flatten: boolean): Readonly<Record<string, unknown>> {
  const { body } = declarativeConfigInvalid(kongFields(problems));
  const { message } = body;
  const short = message.length <= maxMessage ? body : { ...body, message: `${message.slice(0, maxMessage)}...` };
  return flatten ? { ...short, ...flattenErrors(problems) } : { ...short };
}
