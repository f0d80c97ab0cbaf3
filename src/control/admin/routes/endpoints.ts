import { type AdminRoute, ok } from '../http/admin-route.ts';

/** `GET /endpoints`: every path of the route table. */
export function endpointsRoute(routes: () => readonly AdminRoute[]): AdminRoute {
  return {
    path: '/endpoints',
    tag: 'node',
    operations: {
      GET: {
        access: 'read',
        handle: () => ok({ data: endpointPaths(routes()) }),
        notes: { summary: 'Paths of the Admin API', answer: 'object' },
      },
    },
  };
}

function endpointPaths(routes: readonly AdminRoute[]): readonly string[] {
  const paths = routes.map(({ path }) => path);
  return paths.sort(bySegments);
}

/** Segment by segment, so that `/services/{services}` comes before `/services-x`. */
function bySegments(a: string, b: string): number {
  const left = a.split('/');
  const right = b.split('/');
  for (const [index, segment] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (segment !== other) return segment < other ? -1 : 1;
  }
  return left.length - right.length;
}
