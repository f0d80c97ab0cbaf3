/*
 * What of a document with errors goes live, where no database has an older state to return to. One bad entity must not block the rest,
 * and must not open what it was meant to protect. Rules, each for a way in which leaving something out would open something:
 *
 * 1. An entity with an error is left out; the current row with its id or its unique fields stays in its place.
 * 2. Nothing refers to what is left out: such an entity is left out too, or its current row stays. A service is left out with the
 *    upstream that its host names (otherwise DNS would answer for it), and with an authority that it names.
 * 3. A service, its routes and their plugins are one unit. If one of them is left out, the whole unit stays as it is now: its new members
 *    are left out, its changes are not made, and what the document removes from it stays. Thus a plugin that replaces another one, or
 *    a route with a protection of its own, never takes the old protection along. A plugin whose row stays with the same name in the same
 *    place protects what it did, and its unit goes on.
 * 4. A consumer, its credentials, groups and plugins are such a unit if the consumer, a group or a plugin of it is left out. A group that is
 *    left out may be one that an `acl` plugin denies: units with such a plugin stay as they are.
 * 5. A route that is left out leaves its requests to others. Routes that might receive them are not created, changed or removed.
 * 6. While a unit stays as it is, global plugins and those of consumers are added, but not changed or removed: they may be what protects it.
 * 7. The whole config stays as it is when a plugin is left out that was global, or whose place is unknown; and when the document itself has
 *    an error: a misspelt `plugins` would leave out all of them.
 * 8. A new entity whose unique value belongs to a row that stays is left out.
 *
 * With no config yet, "stays as it is" means that it does not exist.
 */

import type { Row } from '../../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import { foreignId, isEnabled, text, texts } from '../../../shared/entities/row-fields.ts';
import type { ConfigProblem, ConfigRows, DeclaredConfig } from '../contract.ts';
import { placeText } from '../problems/problem-lines.ts';
import { keyOf as uniqueKeyOf } from './current-rows.ts';
import { type ConfigIndex, createConfigIndex, keyOf } from './last-good/config-index.ts';
import { isSameScope, isScopeUnknown, problemScope, type Scope, scopeOf } from './last-good/plugin-scope.ts';
import { createMissingRoutes, matchOf } from './last-good/route-overlap.ts';

/** An entity of the document that did not go live. */
export interface LeftOut {
  /** Schema name; null: the document as a whole. */
  readonly entity: string | null;
  /** Null: it has none. */
  readonly id: string | null;
  /** `services 'users'`, `services[0].plugins[1]`. No secret. */
  readonly label: string;
  /** The row from before is there in its place. */
  readonly kept: boolean;
  /** `it is not valid`, or which other entity is the reason. */
  readonly reason: string;
}

export interface LastGood {
  readonly rows: ConfigRows;
  readonly leftOut: readonly LeftOut[];
}

const maxRounds = 100;

/** The valid part of a document, with the current rows where it cannot be used. Without problems: the document. */
export function keepLastGood(declared: DeclaredConfig, current: ConfigRows, entities: EntityRegistry): LastGood {
  if (declared.problems.length === 0) return { rows: declared.rows, leftOut: [] };
  return new Selection(declared, current, entities).select();
}

class Selection {
  readonly #problems: readonly ConfigProblem[];
  readonly #entities: EntityRegistry;
  readonly #next: ConfigIndex;
  readonly #now: ConfigIndex;
  /** Why each entity is left out, by entity and id. */
  readonly #rejected = new Map<string, string>();
  readonly #leftOut: LeftOut[] = [];
  /** Services, and routes without a service, whose unit stays as it is. */
  readonly #frozen = new Set<string>();
  readonly #missing = createMissingRoutes();
  #wholeStays: string | null = null;

  constructor({ rows, problems }: DeclaredConfig, current: ConfigRows, entities: EntityRegistry) {
    this.#problems = problems;
    this.#entities = entities;
    this.#next = createConfigIndex(rows, entities);
    this.#now = createConfigIndex(current, entities);
  }

  select(): LastGood {
    for (const problem of this.#problems) this.#rejectProblem(problem);
    for (let round = 0; this.#wholeStays === null; round++) {
      if (round === maxRounds) this.#wholeStays = 'too many entities depend on each other';
      const before = this.#rejected.size + this.#frozen.size;
      this.#rejectOverlapping();
      this.#keepSharedPlugins();
      if (this.#wholeStays !== null) break;
      const rows = this.#compile();
      this.#rejectDangling(rows);
      this.#rejectTaken(rows);
      if (this.#rejected.size + this.#frozen.size === before) return { rows, leftOut: this.#leftOut };
    }
    return this.#nothing();
  }

  /** The config as it is. */
  #nothing(): LastGood {
    const reason = this.#wholeStays ?? '';
    for (const [entity, list] of Object.entries(this.#next.rows)) {
      for (const row of list) this.#report(entity, row.id, nameOf(this.#entities, entity, row), reason);
    }
    const rows: Record<string, readonly Row[]> = {};
    for (const { name, inConfig } of this.#entities.definitions) if (inConfig) rows[name] = this.#now.rows[name] ?? [];
    return { rows, leftOut: this.#leftOut };
  }

  #rejectProblem(problem: ConfigProblem): void {
    const { entity, path, rowId, input, errors } = problem;
    const place = placeText(path);
    if (entity === null) {
      const keys = Object.keys(errors).join(', ');
      this.#leftOut.push({ entity, id: null, label: keys, kept: false, reason: 'the document is not valid' });
      this.#wholeStays ??= `the document is not valid: ${keys}`;
      return;
    }
    const id = rowId ?? null;
    if (id === null) {
      this.#leftOut.push({ entity, id, label: place, kept: false, reason: 'it is not valid' });
      if (!isHarmless(entity)) this.#wholeStays ??= `${place} is not valid`;
      return;
    }
    const isKnown = this.#rejected.has(keyOf(entity, id));
    this.#reject(entity, id, place, 'it is not valid', `${place} is not valid`, problem);
    // A second entity with the same id is another one.
    if (!isKnown) return;
    if (entity === 'routes') this.#missing.add(matchOf(input, new Set(Object.keys(errors))));
    if (entity === 'plugins')
      this.#rejectPlugin(problemScope(problem), id, text(input as Row, 'name'), place, isScopeUnknown(problem));
  }

  /**
   * Leaves out an entity, and what would be wrong without it. `reason` is for itself, `cause` for what follows from it.
   */
  #reject(
    entity: string,
    id: string,
    label: string,
    reason: string,
    cause: string,
    problem: ConfigProblem | null,
  ): void {
    const key = keyOf(entity, id);
    if (this.#rejected.has(key) || this.#wholeStays !== null) return;
    const next = this.#next.get(entity, id);
    const now = this.#now.get(entity, id);
    this.#rejected.set(key, cause);
    if (problem !== null || next !== now) {
      this.#leftOut.push({ entity, id, label, kept: now !== null, reason });
    }
    const fields = (next ?? problem?.input ?? {}) as Row;
    const invalid = new Set(Object.keys(problem?.errors ?? {}));
    switch (entity) {
      case 'services':
        this.#freeze(id, cause);
        break;
      case 'routes':
        if (problem !== null || next !== now) this.#missing.add(matchOf(fields, invalid));
        for (const unit of this.#unitsOfRoute(id, problem)) this.#freeze(unit, cause);
        break;
      case 'plugins': {
        const scope = problem === null ? scopeOf(fields) : problemScope(problem);
        this.#rejectPlugin(scope, id, text(fields, 'name'), cause, problem !== null && isScopeUnknown(problem));
        break;
      }
      case 'acls':
        this.#rejectGroup(
          problem === null ? foreignId(fields, 'consumer') : (problem.references?.['consumer'] ?? null),
          cause,
        );
        break;
      case 'upstreams':
        if (now === null) this.#rejectServices((row) => text(row, 'host') === text(fields, 'name'), cause);
        break;
      case 'ca_certificates':
        if (now === null) this.#rejectServices((row) => texts(row, 'ca_certificates')?.includes(id) === true, cause);
        break;
      default:
    }
    for (const { entity: name, row, isPart } of this.#next.referringTo(entity, id)) {
      if (isPart || now === null) this.#rejectRow(name, row, cause);
    }
  }

  #rejectRow(entity: string, row: Row, cause: string): void {
    this.#reject(entity, row.id, nameOf(this.#entities, entity, row), cause, cause, null);
  }

  #rejectServices(matches: (row: Row) => boolean, cause: string): void {
    for (const row of this.#next.rows['services'] ?? []) if (matches(row)) this.#rejectRow('services', row, cause);
  }

  /** The units that a route is in, or is meant to be in. */
  #unitsOfRoute(id: string, problem: ConfigProblem | null): ReadonlySet<string> {
    const units = new Set<string>();
    for (const row of [this.#next.get('routes', id), this.#now.get('routes', id)]) {
      if (row !== null) units.add(foreignId(row, 'service') ?? id);
    }
    if (problem !== null) units.add(problem.references?.['service'] ?? id);
    return units;
  }

  #rejectPlugin(scope: Scope, id: string, name: string | null, cause: string, isUnknown: boolean): void {
    if (isUnknown) {
      this.#wholeStays ??= `it is unknown to what this plugin belongs: ${cause}`;
      return;
    }
    const now = this.#now.get('plugins', id);
    // The row that stays does the same in the same place.
    const isSame = now !== null && isEnabled(now) && text(now, 'name') === name;
    if (isSame && isSameScope(scopeOf(now), scope)) return;
    const { route, service, consumer } = scope;
    if (route === null && service === null && consumer === null) {
      this.#wholeStays ??= `a plugin for all requests is missing: ${cause}`;
      return;
    }
    const isAlone = route === null && service === null;
    if (consumer !== null && (isAlone || this.#now.get('consumers', consumer) === null)) {
      this.#freezeConsumer(consumer, cause);
      return;
    }
    if (route !== null) for (const unit of this.#unitsOfRoute(route, null)) this.#freeze(unit, cause);
    if (service !== null) this.#freeze(service, cause);
  }

  #freezeConsumer(id: string, cause: string): void {
    const row = this.#next.get('consumers', id);
    if (row !== null) this.#rejectRow('consumers', row, cause);
    else if (this.#now.get('consumers', id) === null) return;
    else this.#reject('consumers', id, `consumers '${id}'`, cause, cause, null);
  }

  #rejectGroup(consumer: string | null, cause: string): void {
    if (consumer !== null) this.#freezeConsumer(consumer, cause);
    const plugins = [...(this.#next.rows['plugins'] ?? []), ...(this.#now.rows['plugins'] ?? [])];
    for (const plugin of plugins) {
      const { deny } = (plugin['config'] ?? {}) as { readonly deny?: unknown };
      if (plugin['name'] !== 'acl' || !Array.isArray(deny) || deny.length === 0) continue;
      const { route, service } = scopeOf(plugin);
      if (route === null && service === null)
        this.#wholeStays ??= `a group that a plugin may deny is missing: ${cause}`;
      if (route !== null) for (const unit of this.#unitsOfRoute(route, null)) this.#freeze(unit, cause);
      if (service !== null) this.#freeze(service, cause);
    }
  }

  /** The unit of a service, or of a route without one, stays as it is. */
  #freeze(unit: string, cause: string): void {
    if (this.#frozen.has(unit) || this.#wholeStays !== null) return;
    this.#frozen.add(unit);
    const members = [...this.#membersOf(this.#next, unit), ...this.#membersOf(this.#now, unit)];
    for (const [entity, id] of members) {
      const row = this.#next.get(entity, id);
      if (row !== null) this.#rejectRow(entity, row, cause);
    }
  }

  #membersOf(index: ConfigIndex, unit: string): readonly (readonly [string, string])[] {
    const members: (readonly [string, string])[] = [];
    const service = index.get('services', unit);
    if (service !== null) members.push(['services', unit]);
    const routes = [
      ...index.referringTo('services', unit).filter(({ entity }) => entity === 'routes'),
      ...(index.get('routes', unit) === null ? [] : [{ row: index.get('routes', unit) as Row }]),
    ];
    for (const { row } of routes) {
      members.push(['routes', row.id]);
      for (const { entity, row: plugin } of index.referringTo('routes', row.id)) members.push([entity, plugin.id]);
    }
    for (const { entity, row } of index.referringTo('services', unit)) {
      if (entity === 'plugins') members.push([entity, row.id]);
    }
    return members;
  }

  #rejectOverlapping(): void {
    if (this.#missing.size === 0) return;
    for (const row of this.#next.rows['routes'] ?? []) {
      const now = this.#now.get('routes', row.id);
      if (row === now || this.#rejected.has(keyOf('routes', row.id))) continue;
      const matches = [...matchOf(row), ...(now === null ? [] : matchOf(now))];
      if (this.#missing.receives(matches)) {
        this.#rejectRow('routes', row, 'it would receive requests of a route that is left out');
      }
    }
    for (const row of this.#now.rows['routes'] ?? []) {
      if (this.#next.get('routes', row.id) !== null) continue;
      const unit = foreignId(row, 'service') ?? row.id;
      if (!this.#frozen.has(unit) && this.#missing.receives(matchOf(row))) {
        this.#freeze(unit, 'a route that would replace one of it is left out');
      }
    }
  }

  #keepSharedPlugins(): void {
    if (this.#frozen.size === 0) return;
    for (const now of this.#now.rows['plugins'] ?? []) {
      const { route, service } = scopeOf(now);
      if (route !== null || service !== null) continue;
      const next = this.#next.get('plugins', now.id);
      if (next !== null && next !== now) {
        this.#rejectRow('plugins', next, 'it may protect entities that stay as they are');
      }
    }
  }

  #compile(): ConfigRows {
    const rows: Record<string, readonly Row[]> = {};
    for (const { name, inConfig, foreign } of this.#entities.definitions) {
      if (!inConfig) continue;
      const list = (this.#next.rows[name] ?? []).filter((row) => !this.#rejected.has(keyOf(name, row.id)));
      const taken = new Set(list.map(({ id }) => id));
      for (const row of this.#now.rows[name] ?? []) {
        if (!taken.has(row.id) && this.#stays(name, row, Object.entries(foreign))) list.push(row);
      }
      rows[name] = list;
    }
    return rows;
  }

  /** Whether a current row that the document does not have, or that is left out in its new form, remains. */
  #stays(entity: string, row: Row, foreign: readonly (readonly [string, { readonly entity: string }])[]): boolean {
    if (this.#rejected.has(keyOf(entity, row.id))) return true;
    if (this.#isInFrozenUnit(entity, row)) return true;
    if (entity === 'plugins' && this.#frozen.size > 0) {
      const { route, service } = scopeOf(row);
      if (route === null && service === null) return true;
    }
    return foreign.some(([field, { entity: parent }]) => {
      const id = foreignId(row, field);
      const isPart = this.#entities.byName(entity)?.foreign[field]?.onDelete === 'cascade';
      return id !== null && isPart && this.#rejected.has(keyOf(parent, id));
    });
  }

  #isInFrozenUnit(entity: string, row: Row): boolean {
    if (entity === 'services') return this.#frozen.has(row.id);
    if (entity === 'routes') return this.#frozen.has(foreignId(row, 'service') ?? row.id);
    if (entity !== 'plugins') return false;
    const { route, service } = scopeOf(row);
    const ofRoute = route === null ? null : this.#now.get('routes', route);
    if (ofRoute !== null && this.#frozen.has(foreignId(ofRoute, 'service') ?? ofRoute.id)) return true;
    return service !== null && this.#frozen.has(service);
  }

  /** A row whose references are not there. Current rows that remain without them are removed. */
  #rejectDangling(rows: Record<string, readonly Row[]> | ConfigRows): void {
    const ids = new Map(Object.entries(rows).map(([name, list]) => [name, new Set(list.map(({ id }) => id))]));
    for (const { name, inConfig, foreign } of this.#entities.definitions) {
      if (!inConfig) continue;
      const fields = Object.entries(foreign);
      const kept = (rows[name] ?? []).filter((row) => {
        const lost = fields.find(([field, { entity }]) => {
          const id = foreignId(row, field);
          return id !== null && ids.get(entity)?.has(id) !== true;
        });
        if (lost === undefined) return true;
        if (this.#next.get(name, row.id) === row && !this.#rejected.has(keyOf(name, row.id))) {
          this.#rejectRow(name, row, `its ${lost[0]} is left out`);
        }
        ids.get(name)?.delete(row.id);
        return false;
      });
      (rows as Record<string, readonly Row[]>)[name] = kept;
    }
  }

  #rejectTaken(rows: ConfigRows): void {
    for (const { name, inConfig, unique, uniqueTogether } of this.#entities.definitions) {
      if (!inConfig) continue;
      const list = rows[name] ?? [];
      const stays = list.filter((row) => this.#isOld(name, row));
      if (stays.length === 0) continue;
      for (const fields of [...unique.map((field) => [field]), ...uniqueTogether]) {
        const taken = new Set(stays.flatMap((row) => uniqueKeyOf(fields, row) ?? []));
        for (const row of list) {
          if (this.#isOld(name, row)) continue;
          const key = uniqueKeyOf(fields, row);
          if (key !== null && taken.has(key))
            this.#rejectRow(name, row, 'an entity that stays as it is has the same unique value');
        }
      }
    }
  }

  /** The row is only there because it was there. */
  #isOld(entity: string, row: Row): boolean {
    return this.#next.get(entity, row.id) !== row;
  }

  #report(entity: string, id: string, label: string, reason: string): void {
    const now = this.#now.get(entity, id);
    if (this.#rejected.has(keyOf(entity, id)) || this.#next.get(entity, id) === now) return;
    this.#leftOut.push({ entity, id, label, kept: now !== null, reason });
  }
}

/** Without such an entity, less is possible. */
function isHarmless(entity: string): boolean {
  return entity === 'targets' || entity === 'snis' || entity.endsWith('credentials') || entity === 'jwt_secrets';
}

function nameOf(entities: EntityRegistry, entity: string, row: Row): string {
  const definition = entities.byName(entity);
  const key = definition?.endpointKey ?? null;
  const isSecret = key !== null && definition?.schema.fields.get(key)?.meta.encrypted === true;
  const name = key === null || isSecret ? null : text(row, key);
  return `${entity} '${name ?? text(row, 'name') ?? row.id}'`;
}
