import { type HttpError, plainError } from '../http/http-error.ts';
import type { Caller } from './caller.ts';

/** 403: the caller has signed in and may not do this. `reason`: one line without secrets. */
export function forbidden({ actor, role }: Pick<Caller, 'actor' | 'role'>, reason: string): HttpError {
  return plainError(403, `${actor.name} (${role}) may not do this: ${reason}`);
}
