import type { Row } from '../../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import type { ConfigPublisher } from '../../admin/contract.ts';
import type { FeedPosition, Store, StoreWriter } from '../../store/store.ts';
import type { ConfigPlan, ConfigProblem, ConfigRows, DeclaredConfig } from '../contract.ts';
import { type PlanOptions, planConfig, replaceAll } from './plan-config.ts';
import { planProblems } from './plan-problems.ts';

/**
 * Makes a declared config the config of the gateway: one transaction of the store, one version, one moment in each worker.
 *
 *     const applied = await applyConfig(
 *       { store, publisher, entities },
 *       {
 *         declare: (current, now) => declareConfig(document, { entities, hashKeys, current, now }),
 *         record: (writer) => trail.record(writer),
 *       },
 *     );
 *     if (applied.problems.length > 0) ...; // nothing was written
 *
 * To accept a document with some invalid entities, `declare` returns rows that are valid together, and no problems.
 */
export interface ApplyContext {
  readonly store: Store;
  /** Null: nothing waits for workers, because no node runs in this process. */
  readonly publisher: ConfigPublisher | null;
  readonly entities: EntityRegistry;
}

export interface ApplyRequest {
  /**
   * The rows that should be there, given those that are. Runs outside of the transaction, and again when somebody else changed the
   * config meanwhile; the last time inside of it. `now`: milliseconds since the epoch; a row whose `created_at` is `now` is
   * stored with the time of the transaction.
   */
  readonly declare: (current: ConfigRows, now: number) => Promise<DeclaredConfig>;
  /** Default: everything is replaced. */
  readonly plan?: PlanOptions;
  /** The last step of the transaction: audit records. Default: none. */
  readonly record?: (writer: StoreWriter) => Promise<void>;
  /** True: nothing is written. Default false. */
  readonly dryRun?: boolean;
}

export interface AppliedConfig {
  /** MD5 of the document, as declared. */
  readonly hash: string;
  /** What changed, or with `dryRun` what would change. */
  readonly plan: ConfigPlan;
  /** Why nothing was written; empty otherwise. */
  readonly problems: readonly ConfigProblem[];
  /** The version that it became; null when nothing was written. */
  readonly version: number | null;
  /** The row as it is stored, of one that was declared. */
  readonly stored: (row: Row) => Row;
}

/** Somebody else may change the config so many times while a plan is made; after that, they wait. */
const preparations = 3;

/** Milliseconds that workers may take for a large config. */
export const publishTimeout = 60_000;

/**
 * Resolves when the workers of this node have the config, or as a write of the Admin API after a bounded wait. Rejects with a
 * `StoreError` when the store is unavailable; then nothing was written.
 */
export async function applyConfig(context: ApplyContext, request: ApplyRequest): Promise<AppliedConfig> {
  for (let attempt = 1; ; attempt++) {
    const read = await readConfig(context);
    const prepared = await prepare(context, request, read.rows);
    if (request.dryRun === true || !isNeeded(prepared)) return { ...prepared, version: null, stored: asDeclared };
    const outcome = await write(context, request, read, prepared, attempt >= preparations);
    if (outcome === null) continue;
    if (outcome.version !== null) await context.publisher?.published(outcome.version, publishTimeout);
    return outcome;
  }
}

/** The config of one moment. */
export interface ReadConfig {
  readonly position: FeedPosition;
  readonly rows: ConfigRows;
}

export async function readConfig({ store, entities }: Pick<ApplyContext, 'store' | 'entities'>): Promise<ReadConfig> {
  const definitions = entities.definitions.filter(({ inConfig }) => inConfig);
  const dump = await store.dump(definitions.map(({ name }) => name));
  const now = Date.now();
  const rows: Record<string, readonly Row[]> = { ...dump.entities };
  for (const { name, expires } of definitions) {
    if (expires) rows[name] = (rows[name] ?? []).filter((row) => !hasExpired(row, now));
  }
  return { position: { store: dump.store, version: dump.version, stamp: dump.stamp }, rows };
}

export function hasExpired(row: Row, now: number): boolean {
  const expiresAt = row['expires_at'];
  return typeof expiresAt === 'number' && expiresAt <= now;
}

interface Prepared {
  readonly hash: string;
  readonly plan: ConfigPlan;
  readonly problems: readonly ConfigProblem[];
  /** The time that was declared with. */
  readonly now: number;
}

async function prepare({ entities }: ApplyContext, request: ApplyRequest, current: ConfigRows): Promise<Prepared> {
  const now = Date.now();
  const options = request.plan ?? replaceAll;
  const declared = await request.declare(current, now);
  const plan = planConfig(current, declared.rows, entities, options);
  const problems = declared.problems.length > 0 ? declared.problems : planProblems(plan, current, entities, options);
  return { hash: declared.hash, plan, problems, now };
}

function isNeeded({ plan, problems }: Prepared): boolean {
  return problems.length === 0 && plan.changes.length > 0;
}

/** Null: the config has changed meanwhile, so the plan is void. */
async function write(
  context: ApplyContext,
  request: ApplyRequest,
  read: ReadConfig,
  prepared: Prepared,
  last: boolean,
): Promise<AppliedConfig | null> {
  const { store, entities } = context;
  let valid = prepared;
  let stored = asDeclared;
  const { result, version } = await store.write(async (writer) => {
    if (await hasMoved(writer, entities, read.position)) {
      if (!last) return 'void';
      valid = await prepare(context, request, await readWithin(writer, entities));
      if (!isNeeded(valid)) return 'unneeded';
    }
    stored = withTime(valid.now, writer.now);
    await writePlan(writer, entities, valid.plan, stored);
    await request.record?.(writer);
    return 'written';
  });
  if (result === 'void') return null;
  return { ...valid, version: result === 'written' ? version : null, stored };
}

function asDeclared(row: Row): Row {
  return row;
}

/** Rows that were declared as new at `declaredAt` are created when they are written. */
function withTime(declaredAt: number, writtenAt: number): (row: Row) => Row {
  return (row) => (row.created_at === declaredAt ? { ...row, created_at: writtenAt } : row);
}

async function hasMoved(writer: StoreWriter, entities: EntityRegistry, position: FeedPosition): Promise<boolean> {
  const changed = await writer.changedSince(position);
  return typeof changed === 'string' || changed.some(({ entity }) => entities.byName(entity)?.inConfig === true);
}

const pageSize = 1000;

/** Every row, as the transaction sees it. */
async function readWithin(writer: StoreWriter, entities: EntityRegistry): Promise<ConfigRows> {
  const config: Record<string, readonly Row[]> = {};
  for (const { name, inConfig } of entities.definitions) {
    if (!inConfig) continue;
    const rows: Row[] = [];
    for (;;) {
      const last = rows.at(-1);
      const after = last === undefined ? {} : { after: { createdAt: last.created_at, id: last.id } };
      const page = await writer.list(name, { limit: pageSize, ...after });
      rows.push(...page);
      if (page.length < pageSize) break;
    }
    config[name] = rows;
  }
  return config;
}

/** Carries out a plan in the transaction. `stored`: what to store of a row. */
export async function writePlan(
  writer: StoreWriter,
  entities: EntityRegistry,
  { changes }: ConfigPlan,
  stored: (row: Row) => Row = asDeclared,
): Promise<void> {
  for (const { operation, entity, before } of changes) {
    const beforeDelete = entities.byName(entity)?.beforeDelete;
    if (operation === 'delete' && before !== null) await beforeDelete?.(before, writer);
  }
  await writer.writeRows(
    changes.map(({ entity, before, after }) => ({
      entity,
      before,
      after: after === null ? null : stored(after),
    })),
  );
}
