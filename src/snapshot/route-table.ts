import type { Row } from '../entities/entity.ts';
import type { Router } from '../router/router.ts';
import { isHttpRoute, LiveRoute, type PlanSource } from './build-route.ts';
import { MultiMap } from './multi-map.ts';
import type { RuntimeRoute } from './runtime.ts';
import type { ServiceTable } from './service-table.ts';

/** Routes by id and by service. Routes of a disabled service are known, but not in the router. */
export class RouteTable {
  readonly #router: Router<RuntimeRoute>;
  readonly #services: ServiceTable;
  readonly #plans: PlanSource;
  readonly #routes = new Map<string, LiveRoute>();
  readonly #byService = new MultiMap<string, LiveRoute>();

  constructor(router: Router<RuntimeRoute>, services: ServiceTable, plans: PlanSource) {
    this.#router = router;
    this.#services = services;
    this.#plans = plans;
  }

  ids(): Iterable<string> {
    return this.#routes.keys();
  }

  upsert(row: Row): void {
    const old = this.#routes.get(row.id);
    if (!isHttpRoute(row)) {
      this.remove(row.id);
      return;
    }
    const route = new LiveRoute(row, this.#plans);
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

  /**
   * The service has come, changed or gone. `attempt` runs what may throw, in the name of a route.
   */
  rebind(serviceId: string, attempt: (routeId: string, work: () => void) => void): void {
    const state = this.#services.state(serviceId);
    for (const route of this.#byService.get(serviceId)) {
      if (route.inRouter && state.kind !== 'disabled') route.service = state.kind === 'ready' ? state.service : null;
      else if (!route.refused) attempt(route.id, () => this.#bind(route, route.inRouter));
    }
  }

  /**
   * A route whose service is absent stays in the router and is answered 503: without it, a request would fall through to a
   * less specific route that was never meant for it.
   */
  #bind(route: LiveRoute, idInRouter: boolean): void {
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
