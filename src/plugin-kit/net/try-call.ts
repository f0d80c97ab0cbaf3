import { type BackendAnswer, type BackendCall, CallFailed } from '../../plugin-sdk/calls.ts';
import type { AccessContext } from '../../plugin-sdk/contexts.ts';

/**
 * `context.call` whose failure is a result, because a backend that does not answer in time is expected. Any status is an answer.
 *
 * @example
 * const answer = await tryCall(context, { to: { service: 'users' }, path: '/me', timeout: 1000, maxBytes: 65_536 });
 * if (answer instanceof CallFailed) return refuse(answer.status, 'The users are not available');
 */
export async function tryCall(
  context: Pick<AccessContext, 'call'>,
  call: BackendCall,
): Promise<BackendAnswer | CallFailed> {
  try {
    return await context.call(call);
  } catch (error) {
    if (error instanceof CallFailed) return error;
    throw error;
  }
}
