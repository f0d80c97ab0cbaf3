import type { preParsingHookHandler } from 'fastify';
import type { AdminRoute } from './admin-route.ts';
import { methodsWithBody } from './request-body.ts';

/** A hook that calls `admit` of a route before a body is read. */
export function admitBodies(admit: NonNullable<AdminRoute['admit']>): preParsingHookHandler {
  return (request, reply, payload, next) => {
    if (methodsWithBody.has(request.method)) {
      const length = request.headers['content-length'];
      try {
        reply.raw.once('close', admit(length === undefined ? null : Number(length)));
      } catch (error) {
        next(error as Error);
        return;
      }
    }
    next(null, payload);
  };
}
