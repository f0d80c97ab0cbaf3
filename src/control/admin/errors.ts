import { EntityAccessError } from '../../plugin-sdk/entity-access.ts';
import {
  foreignKeyMissing,
  type KongError,
  notFoundByKey,
  primaryKeyViolation,
  schemaViolation,
  stillReferenced,
  uniqueViolation,
} from '../../shared/schema/errors.ts';
import type { ErrorTree } from '../../shared/schema/validate.ts';
import { StoreError, type StoreErrorDetail } from '../store/store.ts';
import type { Answer } from './http/admin-route.ts';
import {
  HttpError,
  payloadTooLarge,
  storeUnavailable,
  unexpectedError,
  unsupportedMediaType,
} from './http/http-error.ts';

/** One of Kong's coded errors, to be thrown. */
export function kongError(error: KongError): HttpError {
  return new HttpError(error.status, { ...error.body });
}

export function invalidInput(fields: ErrorTree): HttpError {
  return kongError(schemaViolation(fields));
}

export interface Report {
  failed(cause: unknown): void;
  storeUnavailable(cause: StoreError): void;
}

/**
 * The answer to an error of a request. An internal error is logged with its cause and answered with
 * Kong's 500, which clients retry.
 */
export function answerOf(error: unknown, report: Report): Answer {
  if (isStoreUnavailable(error)) {
    report.storeUnavailable(error instanceof StoreError ? error : new StoreError({ kind: 'unavailable' }, error));
    const { status, body } = storeUnavailable(error.message);
    return { status, json: body, headers: { 'Retry-After': '1' } };
  }
  const known = knownError(error);
  if (known !== null) return { status: known.status, json: known.body, headers: known.headers };
  report.failed(error);
  const unknown = unexpectedError();
  return { status: unknown.status, json: unknown.body };
}

/** The message is one line for the operator, who is the user of this API. */
function isStoreUnavailable(error: unknown): error is StoreError | EntityAccessError {
  if (error instanceof EntityAccessError) return error.kind === 'unavailable';
  return error instanceof StoreError && (error.detail.kind === 'unavailable' || error.detail.kind === 'refused');
}

function knownError(error: unknown): HttpError | null {
  if (error instanceof HttpError) return error;
  if (error instanceof StoreError) return fromStore(error.detail);
  return fromFramework(error);
}

function fromStore(detail: StoreErrorDetail): HttpError | null {
  switch (detail.kind) {
    case 'unique':
      return kongError(uniqueViolation(detail.fields));
    case 'primary-key':
      return kongError(primaryKeyViolation({ id: detail.id }));
    case 'foreign-key':
      return kongError(foreignKeyMissing(detail.field, detail.references, { id: detail.id }));
    case 'referenced':
      return kongError(stillReferenced(detail.entity, detail.by));
    case 'not-found':
      return kongError(notFoundByKey({ id: detail.id }));
    default:
      return null;
  }
}

/** Errors that Fastify itself raises while it reads a request. */
function fromFramework(error: unknown): HttpError | null {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return null;
  const { statusCode } = error;
  if (statusCode === 413) return payloadTooLarge();
  if (statusCode === 415) return unsupportedMediaType();
  if (typeof statusCode !== 'number' || statusCode < 400 || statusCode > 499) return null;
  return new HttpError(statusCode, { message: 'Bad request' });
}
