import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { basePath } from './api/client.ts';
import { RouteError } from './components/error-boundary.tsx';
import { EmptyState, LoadingState } from './components/states.tsx';
import { EntityListPage } from './config/entity-list-page.tsx';
import { EntityPage } from './config/entity-page.tsx';
import { NewEntityPage } from './config/new-entity-page.tsx';
import { HomePage } from './home/home-page.tsx';
import { Shell } from './layout/shell.tsx';

const root = createRootRoute({ component: Shell, errorComponent: RouteError, notFoundComponent: NotFound });

const home = createRoute({ getParentRoute: () => root, path: '/', component: HomePage });

/** Values of a new entity that the link to its form sets: the parent, the plugin, or the row to clone. */
export interface NewEntitySearch {
  readonly clone?: string;
  readonly name?: string;
  readonly parent?: string;
  readonly parentId?: string;
}

const list = createRoute({
  getParentRoute: () => root,
  path: '/config/$entity',
  component: EntityListPage,
  validateSearch: (search: Readonly<Record<string, unknown>>): { readonly q?: string; readonly tag?: string } => ({
    ...textIn(search, 'q'),
    ...textIn(search, 'tag'),
  }),
});

const create = createRoute({
  getParentRoute: () => root,
  path: '/config/$entity/new',
  component: NewEntityPage,
  validateSearch: (search: Readonly<Record<string, unknown>>): NewEntitySearch => ({
    ...textIn(search, 'clone'),
    ...textIn(search, 'name'),
    ...textIn(search, 'parent'),
    ...textIn(search, 'parentId'),
  }),
});

/** The parent of an entity that has no list of its own. */
const one = createRoute({
  getParentRoute: () => root,
  path: '/config/$entity/$id',
  component: EntityPage,
  validateSearch: (search: Readonly<Record<string, unknown>>): Pick<NewEntitySearch, 'parent' | 'parentId'> => ({
    ...textIn(search, 'parent'),
    ...textIn(search, 'parentId'),
  }),
});

const routeTree = root.addChildren([home, list, create, one]);

export const router = createRouter({
  routeTree,
  basepath: basePath,
  defaultErrorComponent: RouteError,
  defaultPendingComponent: LoadingState,
  scrollRestoration: false,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

function textIn<K extends string>(search: Readonly<Record<string, unknown>>, key: K): { readonly [P in K]?: string } {
  const value = search[key];
  if (typeof value !== 'string' && typeof value !== 'number') return {};
  return { [key]: String(value) } as { readonly [P in K]?: string };
}

function NotFound() {
  return (
    <EmptyState title="No such page">
      <p>Choose one from the navigation.</p>
    </EmptyState>
  );
}
