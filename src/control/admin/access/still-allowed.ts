import type { Operation } from '../http/admin-route.ts';
import type { Authenticator, SignInRequest } from './authenticator.ts';
import { type Caller, isSameCaller } from './caller.ts';
import { requireAccess } from './require-access.ts';
import { unauthorized } from './unauthorized.ts';

/** A request that was accepted, and that is still being answered. */
export interface AcceptedRequest {
  readonly signIn: SignInRequest;
  readonly caller: Caller;
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
}

/**
 * Signs the caller in again, so everything counts that counts for a new request: also that the first admin user was created, or that a
 * reload changed the token of the setting. Rejects with an `HttpError` when the caller is refused or has other rights than before, and with
 * a `StoreError` while the store is unavailable.
 */
export async function requireStillAllowed(authenticator: Authenticator, request: AcceptedRequest): Promise<void> {
  const { signIn, operation, method, path } = request;
  const caller = await authenticator.signIn(signIn);
  requireAccess(caller, operation, method, path);
  if (!isSameCaller(caller, request.caller)) throw unauthorized();
}
