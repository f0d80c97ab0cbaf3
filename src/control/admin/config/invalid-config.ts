import { declarativeConfigInvalid } from '../../../shared/schema/errors.ts';
import type { ConfigProblem } from '../../declarative/contract.ts';
import { flattenErrors } from '../../declarative/problems/flatten-errors.ts';
import { kongFields } from '../../declarative/problems/kong-fields.ts';
import { placedMessages, placeText } from '../../declarative/problems/problem-lines.ts';
import { HttpError } from '../http/http-error.ts';

/** Maximum problems in an answer. */
const maxProblems = 1000;

/** The answer to a document that is not valid. `flatten`: errors by entity, too. */
export function invalidConfig(problems: readonly ConfigProblem[], flatten: boolean): HttpError {
  const { status, body } = declarativeConfigInvalid(kongFields(problems));
  const listed = placedMessages(problems)
    .slice(0, maxProblems)
    .map(({ path, position, message }) => ({ place: placeText(path), path, ...position, message }));
  return new HttpError(status, { ...body, ...(flatten ? flattenErrors(problems) : {}), problems: listed });
}
