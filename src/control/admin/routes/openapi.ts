import { type AdminRoute, ok } from '../http/admin-route.ts';
import type { OpenApiSource } from '../openapi/build-openapi.ts';

/** `GET /openapi.json`, built at the first request: most nodes never need it, and a start must be fast. */
export function openApiRoute(source: () => OpenApiSource): AdminRoute {
  let document: unknown;
  return {
    path: '/openapi.json',
    tag: 'node',
    operations: {
      GET: {
        access: 'read',
        handle: async () => {
          if (document === undefined) {
            const { buildOpenApi } = await import('../openapi/build-openapi.ts');
            document = buildOpenApi(source());
          }
          return ok(document);
        },
        notes: { summary: 'This description', answer: 'object' },
      },
    },
  };
}
