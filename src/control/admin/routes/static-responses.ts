import type { Access, AdminRoute, Answer, Handler, Method, Operation } from '../http/admin-route.ts';

const text = 'User-agent: *\nDisallow: /';

/** Paths with a fixed answer: endpoints that this kind of node does not offer have Kong's message. */
export function staticResponseRoutes(): readonly AdminRoute[] {
  return [
    {
      path: '/robots.txt',
      tag: 'node',
      operations: {
        GET: {
          access: 'read',
          handle: () => ({ status: 200, text }),
          notes: { summary: 'Keeps crawlers out', answer: 'text' },
        },
      },
    },
    ...['/filter-chains', '/filter-chains/{filter_chains}'].map((path) =>
      refusing(path, ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], 'this endpoint is only available when wasm is enabled'),
    ),
  ];
}

/** A path that answers 400 with this message. `reading`: who may use GET. */
export function refusing(
  path: string,
  methods: readonly Method[],
  message: string,
  reading: Access = 'read',
): AdminRoute {
  const answer: Answer = { status: 400, json: { message } };
  return { path, tag: 'not offered', operations: operations(methods, 'Not offered', () => answer, reading) };
}

function operations(
  methods: readonly Method[],
  summary: string,
  handle: Handler,
  reading: Access,
): Partial<Record<Method, Operation>> {
  const made: Partial<Record<Method, Operation>> = {};
  for (const method of methods) {
    const access = method === 'GET' ? reading : 'admin';
    made[method] = { access, handle, notes: { summary, answer: 'object', status: 400 } };
  }
  return made;
}
