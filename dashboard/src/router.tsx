import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { basePath } from './api/client.ts';
import { RouteError } from './components/error-boundary.tsx';
import { EmptyState, LoadingState } from './components/states.tsx';
import { EntityListPage } from './config/entity-list-page.tsx';
import { EntityPage } from './config/entity-page.tsx';
import { NewEntityPage } from './config/new-entity-page.tsx';
import { HomePage } from './home/home-page.tsx';
import { Shell } from './layout/shell.tsx';
import { overviewSearch } from './overview/ranges.ts';

const root = createRootRoute({ component: Shell, errorComponent: RouteError, notFoundComponent: NotFound });

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: HomePage,
  validateSearch: overviewSearch,
});

/** Values of a new entity that the link to its form sets: the parent, the plugin, or the row to clone. */
export interface NewEntitySearch {
  readonly clone?: string;
  /** Position of an example in the README of the plugin. */
  readonly example?: string;
  readonly name?: string;
  readonly parent?: string;
  readonly parentId?: string;
}

/** The filters of `GET /traffic`. */
export interface TrafficSearch {
  readonly route?: string;
  readonly service?: string;
  readonly consumer?: string;
  readonly status?: string;
  readonly method?: string;
  readonly path?: string;
  readonly client?: string;
  readonly min_duration?: string;
}

export interface HistorySearch {
  readonly actor?: string;
  readonly entity?: string;
  /** `hour`, `day`, `week` or `month`. */
  readonly since?: string;
}

export interface PlaygroundSearch {
  readonly request?: string;
  readonly method?: string;
  readonly url?: string;
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
    ...textIn(search, 'example'),
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

const traffic = createRoute({
  getParentRoute: () => root,
  path: '/traffic',
  component: lazyRouteComponent(() => import('./traffic/live/traffic-page.tsx'), 'TrafficPage'),
  validateSearch: (search: Readonly<Record<string, unknown>>): TrafficSearch => ({
    ...textIn(search, 'route'),
    ...textIn(search, 'service'),
    ...textIn(search, 'consumer'),
    ...textIn(search, 'status'),
    ...textIn(search, 'method'),
    ...textIn(search, 'path'),
    ...textIn(search, 'client'),
    ...textIn(search, 'min_duration'),
  }),
});

const trafficRequest = createRoute({
  getParentRoute: () => root,
  path: '/traffic/$id',
  component: lazyRouteComponent(() => import('./traffic/request/request-page.tsx'), 'RequestPage'),
});

const history = createRoute({
  getParentRoute: () => root,
  path: '/history',
  component: lazyRouteComponent(() => import('./history/history-page.tsx'), 'HistoryPage'),
  validateSearch: (search: Readonly<Record<string, unknown>>): HistorySearch => ({
    ...textIn(search, 'actor'),
    ...textIn(search, 'entity'),
    ...textIn(search, 'since'),
  }),
});

/** `against`: the version to compare with; default: the one before. */
const historyVersion = createRoute({
  getParentRoute: () => root,
  path: '/history/$version',
  component: lazyRouteComponent(() => import('./history/version-page.tsx'), 'VersionPage'),
  validateSearch: (search: Readonly<Record<string, unknown>>) => textIn(search, 'against'),
});

/** `request`: id of a recorded request to begin with. */
const playground = createRoute({
  getParentRoute: () => root,
  path: '/playground',
  component: lazyRouteComponent(() => import('./playground/playground-page.tsx'), 'PlaygroundPage'),
  validateSearch: (search: Readonly<Record<string, unknown>>): PlaygroundSearch => ({
    ...textIn(search, 'request'),
    ...textIn(search, 'method'),
    ...textIn(search, 'url'),
  }),
});

const plugins = createRoute({
  getParentRoute: () => root,
  path: '/plugins',
  component: lazyRouteComponent(() => import('./plugins/plugins-page.tsx'), 'PluginsPage'),
  validateSearch: (search: Readonly<Record<string, unknown>>): { readonly q?: string; readonly state?: string } => ({
    ...textIn(search, 'q'),
    ...textIn(search, 'state'),
  }),
});

const plugin = createRoute({
  getParentRoute: () => root,
  path: '/plugins/$name',
  component: lazyRouteComponent(() => import('./plugins/plugin-page.tsx'), 'PluginPage'),
});

const apis = createRoute({
  getParentRoute: () => root,
  path: '/apis',
  component: lazyRouteComponent(() => import('./apis/apis-page.tsx'), 'ApisPage'),
});

const api = createRoute({
  getParentRoute: () => root,
  path: '/apis/$id',
  component: lazyRouteComponent(() => import('./apis/api-page.tsx'), 'ApiPage'),
});

const routeTree = root.addChildren([
  ...[home, list, create, one],
  ...[traffic, trafficRequest, history, historyVersion, playground, plugins, plugin, apis, api],
]);

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
