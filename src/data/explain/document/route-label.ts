import type { RuntimeRoute } from '../../snapshot/runtime.ts';

const shownPaths = 3;

/** The label of a route for people: its name, else its paths, else its ID. */
export function routeLabel({ id, name, paths }: Pick<RuntimeRoute, 'id' | 'name' | 'paths'>): string {
  if (name !== null) return name;
  if (paths === null || paths.length === 0) return id;
  const more = paths.length > shownPaths ? ` and ${paths.length - shownPaths} more` : '';
  return `${paths.slice(0, shownPaths).join(', ')}${more}`;
}
