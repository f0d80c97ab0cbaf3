import type { AccessContext } from '../../plugin-sdk/contexts.ts';
import { type Reply, refuse, replyJson } from '../../plugin-sdk/reply.ts';
import type { Verdict } from './body-checker.ts';
import type { Violation } from './compile-schema.ts';

/** True for a request that says by its head that it has no body; with HTTP/2 the head does not tell. */
export function declaresNoBody({ request }: AccessContext): boolean {
  if (request.httpVersion === '2') return false;
  const length = request.header('content-length');
  return (length === null || length === '0') && request.header('transfer-encoding') === null;
}

/** The refusal of a body; null: it is valid. */
export function bodyRefusal(
  verdict: Verdict,
  requestId: string,
  verbose: boolean,
  message = 'the request body is not valid',
): Reply | null {
  if (verdict.kind === 'right') return null;
  if (verdict.kind === 'syntax') return refuse(400, verdict.message);
  if (verdict.kind === 'busy') return refuse(503, 'The request body could not be checked in time');
  return violationReply(message, verdict.violations, requestId, verbose);
}

/** 400 with a list of the violations and their locations. */
export function violationReply(
  message: string,
  violations: readonly (Violation & { readonly in?: string; readonly name?: string })[],
  requestId: string,
  verbose: boolean,
): Reply {
  if (!verbose) return refuse(400, message);
  return replyJson(400, { message, errors: violations, request_id: requestId });
}
