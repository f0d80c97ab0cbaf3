import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import type { LeaseRequest, LeaseWindow } from '../../../shared/limits/lease.ts';
import { maxRows } from '../../../shared/lookup/calls.ts';
import type { CachedRows } from '../../lookup/cached-rows.ts';
import type { StoredNode } from '../../store/nodes.ts';
import type { ListQuery, Store } from '../../store/store.ts';
import type { UsageName, UsageQuery, UsageRow } from '../../store/usage-store.ts';
import {
  boolean,
  type Check,
  fail,
  integer,
  list,
  nullable,
  number,
  object,
  oneOf,
  optional,
  text,
  word,
} from '../protocol/check-values.ts';
import { commit, listQuery, type ReadResult, transactionRead } from '../protocol/store-calls.ts';
import { usageName, usageQuery, usageRow } from '../protocol/usage-values.ts';
import { commitWrites } from './commit-writes.ts';
import type { DataPlaneRights } from './data-plane-rights.ts';
import { performRead, tagOf } from './transaction-reads.ts';

export interface StoreCallOptions {
  readonly store: Store;
  readonly entities: EntityRegistry;
  readonly rights: DataPlaneRights;
  readonly cached: CachedRows | null;
  /** Version of the store that this control plane has followed; the cached rows are not older. */
  readonly followed: () => number;
  /** Milliseconds that a transaction of a data plane may work: all other writes wait for it. */
  readonly maxCommitTime: number;
}

type Fields = Readonly<Record<string, unknown>>;
/** `node`: id of the data plane. */
type Method = (args: Fields, node: string) => Promise<unknown>;

const value = text(1024 * 1024);
const keys = list(text(4096), 10_000);
const report = text(256 * 1024);
/** Answers the calls of data planes from the store of the control plane. */
export class StoreCallHandler {
  readonly #options: StoreCallOptions;
  readonly #methods: ReadonlyMap<string, Method>;

  constructor(options: StoreCallOptions) {
    this.#options = options;
    this.#methods = new Map(Object.entries(this.#table()));
  }

  /** Rejects with a `MalformedMessage` when the arguments are not those of the method. */
  async handle(method: string, args: unknown, node: string): Promise<unknown> {
    const perform = this.#methods.get(method);
    if (perform === undefined) throw new TypeError(`the control plane does not know the call '${method.slice(0, 40)}'`);
    return perform(object(args, 'args'), node);
  }

  #table(): Readonly<Record<string, Method>> {
    const { store } = this.#options;
    return {
      ping: async () => null,
      find: (args) => this.#find(args),
      list: (args) => this.#list(args),
      count: async (args) => store.count(this.#readable(word(args['entity'], 'entity')).name),
      read: (args) => this.#read(args),
      commit: (args) =>
        commitWrites(
          {
            store,
            rights: this.#options.rights,
            readable: (entity) => this.#readable(entity),
            writable: (entity) => this.#writable(entity),
            maxTime: this.#options.maxCommitTime,
          },
          commit(args, 'args'),
        ),
      leaseCounters: async (args) => store.leaseCounters(list(leaseRequest, 10_000)(args['requests'], 'requests')),
      readCounters: async (args) => store.readCounters(keys(args['keys'], 'keys')),
      putUsage: async (args, node) => {
        const rows: readonly UsageRow[] = list(usageRow, 10_000)(args['rows'], 'rows');
        const names: readonly UsageName[] = list(usageName, 10_000)(args['names'], 'names');
        if (rows.some((row) => row.node !== node)) throw new TypeError('a data plane can only write its own usage');
        await store.putUsage(rows, names);
        return null;
      },
      readUsage: async (args, node) => {
        const query: UsageQuery = usageQuery(args['query'], 'query');
        return store.readUsage({ ...query, where: { ...query.where, node: [node] } });
      },
      readUsageNames: async (args) => store.readUsageNames(word(args['kind'], 'kind'), keys(args['ids'], 'ids')),
      findUsageNames: async (args) => store.findUsageNames(word(args['kind'], 'kind'), value(args['name'], 'name')),
      putNodes: async (args, node) => {
        const nodes = list(storedNode, 1)(args['nodes'], 'nodes');
        if (nodes.some(({ id }) => id !== node)) throw new TypeError('a data plane can only report itself');
        await store.putNodes(nodes);
        return null;
      },
      countNodes: async (args) => store.countNodes(roles(args['roles'], 'roles'), number(args['within'], 'within')),
      removeNode: async (args, node) => {
        if (value(args['id'], 'id') !== node) throw new TypeError('a data plane can only remove itself');
        await store.removeNode(node);
        return null;
      },
      noteUse: async (args) => {
        const definition = this.#writable(word(args['entity'], 'entity'));
        // It replaces the value of any field, without a check of the row.
        if (this.#options.rights.of(definition).write !== 'any') {
          throw new TypeError(`a data plane must not note uses of ${definition.name}`);
        }
        await store.noteUse(
          definition.name,
          value(args['id'], 'id'),
          word(args['field'], 'field'),
          value(args['value'], 'value'),
        );
        return null;
      },
    };
  }

  async #find(args: Fields): Promise<Row | null> {
    const { name } = this.#readable(word(args['entity'], 'entity'));
    const question = {
      entity: name,
      field: word(args['field'], 'field'),
      value: value(args['value'], 'value'),
      many: false,
    };
    const cached = this.#cachedFor(args);
    if (cached !== null) return ((await cached.rows(question))[0] as Row | undefined) ?? null;
    return (await performRead(this.#options.store, { kind: 'find', ...question })) as Row | null;
  }

  async #list(args: Fields): Promise<readonly Row[]> {
    const { name } = this.#readable(word(args['entity'], 'entity'));
    const query = listQuery(args['query'], 'query');
    const cached = this.#cachedFor(args);
    const lookup = lookupOf(query);
    if (cached !== null && lookup !== null) {
      return (await cached.rows({ entity: name, ...lookup, many: true })) as readonly Row[];
    }
    return this.#options.store.list(name, query);
  }

  async #read(args: Fields): Promise<ReadResult> {
    const read = transactionRead(args['read'], 'read');
    this.#readable(read.entity);
    const answer = await performRead(this.#options.store, read);
    return { value: answer, tag: tagOf(answer) };
  }

  /** A data plane may have followed another control plane further: the rows that are cached here may be older than its config. */
  #cachedFor(args: Fields): CachedRows | null {
    const { cached, followed } = this.#options;
    return integer(-1)(args['followed'], 'followed') <= followed() ? cached : null;
  }

  #readable(entity: string): EntityDefinition {
    return this.#permitted(entity, 'read');
  }

  #writable(entity: string): EntityDefinition {
    return this.#permitted(entity, 'write');
  }

  #permitted(entity: string, operation: 'read' | 'write'): EntityDefinition {
    const { entities, rights } = this.#options;
    const definition = entities.byName(entity);
    if (definition === undefined) throw new TypeError(`there is no entity '${entity.slice(0, 60)}'`);
    const { read, write } = rights.of(definition);
    if (operation === 'read' ? read : write !== 'none') return definition;
    throw new TypeError(`a data plane must not ${operation} ${definition.name}`);
  }
}

/** A query that lookups of workers make. */
function lookupOf({
  where = {},
  limit,
  ...rest
}: ListQuery): { readonly field: string; readonly value: string } | null {
  const [condition, ...more] = Object.entries(where);
  if (condition === undefined || more.length > 0 || limit !== maxRows || Object.keys(rest).length > 0) return null;
  const [field, wanted] = condition;
  return typeof wanted === 'string' ? { field, value: wanted } : null;
}

const units: Check<number | undefined> = optional((given, name) => {
  const count = number(given, name);
  return count >= 0 ? count : fail(name, 'a number of units');
});

const leaseWindow: Check<LeaseWindow> = (given, name) => {
  const fields = object(given, name);
  return {
    key: text(4096)(fields['key'], `${name}.key`),
    windowStart: number(fields['windowStart'], `${name}.windowStart`),
    keepFor: number(fields['keepFor'], `${name}.keepFor`),
    limit: number(fields['limit'], `${name}.limit`),
    previous: nullable(previousWindow)(fields['previous'], `${name}.previous`),
    held: units(fields['held'], `${name}.held`) ?? 0,
    ahead: units(fields['ahead'], `${name}.ahead`) ?? 0,
  };
};

const previousWindow: Check<NonNullable<LeaseWindow['previous']>> = (given, name) => {
  const fields = object(given, name);
  return {
    windowStart: number(fields['windowStart'], `${name}.windowStart`),
    share: fraction(fields['share'], `${name}.share`),
  };
};

function fraction(given: unknown, name: string): number {
  const share = number(given, name);
  return share >= 0 && share <= 1 ? share : fail(name, 'a fraction');
}

const leaseRequest: Check<LeaseRequest> = (given, name) => {
  const fields = object(given, name);
  return {
    windows: list(leaseWindow, 100)(fields['windows'], `${name}.windows`),
    wanted: number(fields['wanted'], `${name}.wanted`),
    unit: number(fields['unit'], `${name}.unit`),
    force: boolean(fields['force'], `${name}.force`),
    share: optional(fraction)(fields['share'], `${name}.share`) ?? 0,
  };
};

const dataPlane = oneOf('data_plane');
const roles = list(oneOf('traditional', 'control_plane', 'data_plane'), 3);

const storedNode: Check<StoredNode> = (given, name) => {
  const fields = object(given, name);
  return {
    id: word(fields['id'], `${name}.id`),
    role: dataPlane(fields['role'], `${name}.role`),
    data: report(fields['data'], `${name}.data`),
  };
};
