import type { Row } from '../../shared/entities/entity.ts';
import { MultiMap } from './multi-map.ts';
import type { RuntimeService } from './runtime.ts';
import type { ServiceTable } from './service-table.ts';

/** What a table needs from its routes, of requests or of streams. */
export interface BoundRoute {
  readonly id: string;
  readonly serviceId: string | null;
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

  /** `build`: null for a row that does not belong in this table. */
  constructor(router: RouterOf<R>, services: ServiceTable, build: (row: Row) => R | null) {
    this.#router = router;
    this.#services = services;
    this.#build = build;
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

  /** The service was added, changed or removed. `attempt` runs what may throw, on behalf of a route. */
  rebind(serviceId: string, attempt: (routeId: string, work: () => void) => void): void {
    const state = this.#services.state(serviceId);
    for (const route of this.#byService.get(serviceId)) {
      if (route.inRouter && state.kind !== 'disabled') route.service = state.kind === 'ready' ? state.service : null;
      else if (!route.refused) attempt(route.id, () => this.#bind(route, route.inRouter));
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
