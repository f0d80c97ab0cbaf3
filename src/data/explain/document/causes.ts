import type { Explained } from '../explained.ts';

/** What to look at, or to change. */
export interface Cause {
  /** Schema name of the entity; null: it is a setting of the node, or nothing in particular. */
  readonly entity: 'routes' | 'services' | 'upstreams' | 'plugins' | null;
  readonly id: string | null;
  readonly name: string | null;
  /** The field of the entity; null: the entity as a whole. */
  readonly field: string | null;
  /** Names of settings of the node. */
  readonly settings: readonly string[];
}

/** Why a request was refused or failed. */
export interface Why {
  /** One sentence. */
  readonly sentence: string;
  readonly cause: Cause | null;
}

/** Why the last attempt at a backend failed, as the end of a sentence. */
export function causeText({ x }: Explained): string {
  return x.failureCause === '' ? '' : `: ${x.failureCause}`;
}

/** A plan has one instance of each plugin. */
export function causingPlugin({ x }: Explained, plugin: string | null): Cause | null {
  const { plan, snapshot } = x;
  const instance = [...plan.all, ...snapshot.globalPlan.rewrite].find(({ name }) => name === plugin);
  return instance === undefined
    ? null
    : { entity: 'plugins', id: instance.id, name: instance.name, field: 'config', settings: [] };
}

export function ofRoute({ x: { route } }: Explained, field: string): Cause | null {
  return route === null ? null : { entity: 'routes', id: route.id, name: route.name, field, settings: [] };
}

export function ofService({ x: { service } }: Explained, field: string | null): Cause | null {
  return service === null ? null : { entity: 'services', id: service.id, name: service.name, field, settings: [] };
}

export function ofSettings(...settings: readonly string[]): Cause {
  return { entity: null, id: null, name: null, field: null, settings };
}
