import type { PluginScope } from '../../plugin-sdk/define-plugin.ts';
import { type InstanceScope, precedence, scopeKey } from '../../shared/plugin-plan/precedence.ts';
import { buildPlan, secretNames } from './build-plan.ts';
import type { PluginInstance, PluginPlan, SecretNames } from './plan.ts';

/** An enabled plugin instance and what it is attached to; all null: global. */
export interface PlanEntry extends InstanceScope {
  readonly instance: PluginInstance;
}

/**
 * Keeps all enabled plugin instances and merges them into plans: for each name the most specific instance, in Kong's
 * order. Plans are built on first use and shared, so that 10,000 routes without plugins of their own have one plan
 * between them.
 */
export class PlanBuilder {
  readonly #entries = new Map<string, PlanEntry>();
  /** By plugin name: the instance of each scope. */
  readonly #scopes = new Map<string, Map<string, PluginInstance>>();
  readonly #plans = new Map<string, PluginPlan>();
  /** Read with every request; null: not built since the last change. */
  #globalPlan: PluginPlan | null = null;
  /** How many entries reference an id: an id without references cannot change a plan. */
  readonly #mentions = new Map<string, number>();
  /** Of all instances: a key that is sent to the wrong route is still secret. */
  #secrets: SecretNames | null = null;

  get size(): number {
    return this.#entries.size;
  }

  get globalPlan(): PluginPlan {
    this.#globalPlan ??= this.planFor(null, null, null);
    return this.#globalPlan;
  }

  upsert(entry: PlanEntry): void {
    this.remove(entry.instance.id);
    this.#entries.set(entry.instance.id, entry);
    let scopes = this.#scopes.get(entry.instance.name);
    if (scopes === undefined) {
      scopes = new Map();
      this.#scopes.set(entry.instance.name, scopes);
    }
    scopes.set(scopeKey(entry), entry.instance);
    for (const id of mentionedIds(entry)) this.#mentions.set(id, (this.#mentions.get(id) ?? 0) + 1);
    this.#plans.clear();
    this.#globalPlan = null;
    this.#secrets = null;
  }

  remove(instanceId: string): void {
    const entry = this.#entries.get(instanceId);
    if (entry === undefined) return;
    this.#entries.delete(instanceId);
    const scopes = this.#scopes.get(entry.instance.name);
    const key = scopeKey(entry);
    if (scopes?.get(key)?.id === instanceId) scopes.delete(key);
    if (scopes?.size === 0) this.#scopes.delete(entry.instance.name);
    for (const id of mentionedIds(entry)) this.#release(id);
    this.#plans.clear();
    this.#globalPlan = null;
    this.#secrets = null;
  }

  /** What the instance is attached to; empty: it is global, or unknown. */
  scopeOf(instanceId: string): readonly PluginScope[] {
    const entry = this.#entries.get(instanceId);
    if (entry === undefined) return [];
    const scopes: PluginScope[] = [];
    if (entry.routeId !== null) scopes.push('route');
    if (entry.serviceId !== null) scopes.push('service');
    if (entry.consumerId !== null) scopes.push('consumer');
    return scopes;
  }

  /** Some instance is attached to the entity of this id. */
  mentions(id: string): boolean {
    return this.#mentions.has(id);
  }

  planFor(routeId: string | null, serviceId: string | null, consumerId: string | null): PluginPlan {
    const route = this.#known(routeId);
    const service = this.#known(serviceId);
    const consumer = this.#known(consumerId);
    const key = scopeKey({ routeId: route, serviceId: service, consumerId: consumer });
    let plan = this.#plans.get(key);
    if (plan === undefined) {
      plan = this.#merge(route, service, consumer);
      this.#plans.set(key, plan);
    }
    return plan;
  }

  #merge(route: string | null, service: string | null, consumer: string | null): PluginPlan {
    const keys = precedence(route, service, consumer).map(scopeKey);
    const chosen: PluginInstance[] = [];
    for (const scopes of this.#scopes.values()) {
      const key = keys.find((candidate) => scopes.has(candidate));
      const instance = key === undefined ? undefined : scopes.get(key);
      if (instance !== undefined) chosen.push(instance);
    }
    this.#secrets ??= secretNames([...this.#entries.values()].map((entry) => entry.instance));
    return buildPlan(chosen, this.#secrets);
  }

  #known(id: string | null): string | null {
    return id !== null && this.#mentions.has(id) ? id : null;
  }

  #release(id: string): void {
    const count = this.#mentions.get(id) ?? 0;
    if (count <= 1) this.#mentions.delete(id);
    else this.#mentions.set(id, count - 1);
  }
}

function mentionedIds(entry: PlanEntry): readonly string[] {
  return [entry.routeId, entry.serviceId, entry.consumerId].filter((id) => id !== null);
}
