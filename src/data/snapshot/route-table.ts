import type { Row } from '../../shared/entities/entity.ts';
import { copyMap } from '../../shared/util/copy-in-steps.ts';
import { MultiMap } from './multi-map.ts';
import type { RuntimeService } from './runtime.ts';
import type { ServiceTable } from './service-table.ts';

/** What a table needs from its routes, of requests or of streams. */
export interface BoundRoute {
  readonly id: string;
  readonly serviceId: string | null;
  /** The row that it was built from. */
  readonly stored: Row;
  service: RuntimeService | null;
  /** False for a route whose service is disabled, and for one that the router rejected. */
  inRouter: boolean;
  refused: boolean;
}

interface RouterOf<R> {
  /** Throws when the route cannot be compiled. */
  upsert(route: R): void;
  remove(id: string): void;
}

/** Routes by id and by service. Routes of a disabled service are kept, but not in the router. */
export class RouteTable<R extends BoundRoute> {
  readonly #router: RouterOf<R>;
  readonly #services: ServiceTable;
  readonly #build: (row: Row) => R | null;
  readonly #routes = new Map<string, R>();
  readonly #byService = new MultiMap<string, R>();
  /** While another table uses the routes of this one: those that are only in this one. Null: all are. */
  #own: Set<R> | null = null;

  /** `build`: null for a row that does not belong in this table. */
  constructor(router: RouterOf<R>, services: ServiceTable, build: (row: Row) => R | null) {
    this.#router = router;
    this.#services = services;
    this.#build = build;
  }

  /**
   * Gives an empty table the routes of another, in steps; the two routers do the same. Until `release`, routes of the other table are
   * replaced instead of changed.
   */
  *copyFrom(other: RouteTable<R>): Generator<void> {
    this.#own = new Set();
    yield* copyMap(other.#routes, this.#routes);
    yield* this.#byService.copyFrom(other.#byService);
  }

  /** The other table is no longer used. */
  release(): void {
    this.#own = null;
  }

  ids(): Iterable<string> {
    return this.#routes.keys();
  }

  /** Routes that are not in the router, because their service is disabled or they cannot be compiled. */
  *resting(): Iterable<R> {
    for (const route of this.#routes.values()) if (!route.inRouter) yield route;
  }

  upsert(row: Row): void {
    const old = this.#routes.get(row.id);
    const route = this.#build(row);
    if (route === null) {
      this.remove(row.id);
      return;
    }
    if (old?.serviceId != null) this.#byService.delete(old.serviceId, old);
    this.#own?.add(route);
    this.#routes.set(row.id, route);
    if (route.serviceId !== null) this.#byService.add(route.serviceId, route);
    this.#bind(route, old?.inRouter ?? false);
  }

  remove(id: string): void {
    const route = this.#routes.get(id);
    if (route === undefined) return;
    this.#routes.delete(id);
    if (route.serviceId !== null) this.#byService.delete(route.serviceId, route);
    if (route.inRouter) this.#router.remove(id);
  }

  /** The service was added, changed or removed: one step for each of its routes. `attempt` runs what may throw, on behalf of a route. */
  *rebind(serviceId: string, attempt: (routeId: string, work: () => void) => void): Generator<void> {
    const state = this.#services.state(serviceId);
    const service = state.kind === 'ready' ? state.service : null;
    const routes = this.#byService.get(serviceId);
    // A route that is replaced would come again.
    for (const route of this.#own === null ? routes : [...routes]) {
      if (this.#own?.has(route) === false) {
        const stays = route.inRouter && state.kind !== 'disabled' && route.service === service;
        if (!stays && !route.refused) attempt(route.id, () => this.upsert(route.stored));
      } else if (route.inRouter && state.kind !== 'disabled') route.service = service;
      else if (!route.refused) attempt(route.id, () => this.#bind(route, route.inRouter));
      yield;
    }
  }

  /**
   * A route whose service is absent stays in the router and answers 503: without it, a request would match a less
   * specific route that was never meant for it.
   */
  #bind(route: R, idInRouter: boolean): void {
    const state = route.serviceId === null ? null : this.#services.state(route.serviceId);
    route.service = state?.kind === 'ready' ? state.service : null;
    route.inRouter = false;
    if (state?.kind === 'disabled') {
      if (idInRouter) this.#router.remove(route.id);
      return;
    }
    try {
      this.#router.upsert(route);
      route.inRouter = true;
    } catch (error) {
      route.refused = true;
      if (idInRouter) this.#router.remove(route.id);
      throw error;
    }
  }
}
