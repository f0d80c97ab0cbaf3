import { openStore } from '../../boot/config/open-store.ts';
import { AuditTrail } from '../../control/admin/audit/audit-trail.ts';
import { countsOf, shownChange } from '../../control/admin/config/shown-plan.ts';
import { type ApplyContext, applyConfig, readConfig } from '../../control/declarative/apply/apply-config.ts';
import type { PlanOptions } from '../../control/declarative/apply/plan-config.ts';
import { rollbackConfig } from '../../control/declarative/apply/rollback-config.ts';
import type { ConfigDocument } from '../../control/declarative/contract.ts';
import { declareConfig } from '../../control/declarative/declare/declare-config.ts';
import { exportConfig } from '../../control/declarative/export/export-config.ts';
import { placedMessages, placeText } from '../../control/declarative/problems/problem-lines.ts';
import { type Store, StoreError } from '../../control/store/store.ts';
import { pluginBase } from '../../shared/plugin-loader/plugin-base.ts';
import { preparePrefix } from '../../shared/settings/kinds/prefix.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { CliError } from '../cli-error.ts';
import {
  type ApplyOutcome,
  type ConfigTarget,
  type ExportOptions,
  InvalidDocument,
  type RollbackOutcome,
  type ShownVersion,
} from './config-target.ts';

/** Who the versions and the audit records of a command name. */
const actor = { kind: 'anonymous', name: 'command-line' } as const;

/** Opens the store of a node that does not run, and creates or upgrades its tables. */
export async function openStoreTarget(settings: Settings, cwd: string): Promise<ConfigTarget> {
  const baseDirectory = pluginBase(settings, cwd);
  preparePrefix(settings.prefix);
  const log = { info: () => {}, warn: () => {}, log: () => {} };
  const opened = await openStore({ settings, baseDirectory, nodeId: '', position: null, log });
  try {
    await opened.store.ping();
    await opened.store.migrate();
  } catch (error) {
    await opened.store.close();
    throw error instanceof StoreError ? new CliError(error.message) : error;
  }
  return new StoreTarget({ store: opened.store, publisher: null, entities: opened.entities }, settings);
}

class StoreTarget implements ConfigTarget {
  readonly #context: ApplyContext;
  readonly #store: Store;
  readonly #settings: Settings;

  constructor(context: ApplyContext, settings: Settings) {
    this.#context = context;
    this.#store = context.store;
    this.#settings = settings;
  }

  async apply(document: ConfigDocument, plan: PlanOptions, dryRun: boolean): Promise<ApplyOutcome> {
    const { entities } = this.#context;
    const { hashKeys } = this.#settings;
    const note = `${plan.mode}${plan.selectTags.length === 0 ? '' : ` of ${plan.selectTags.join(', ')}`}`;
    const applied = await applyConfig(this.#context, {
      declare: (current, now) => declareConfig(document, { entities, hashKeys, current, now }),
      plan,
      dryRun,
      record: (writer) => this.#trail('config apply').record(writer, { action: 'apply', note }),
    });
    if (applied.problems.length > 0) {
      throw new InvalidDocument(
        placedMessages(applied.problems).map(({ path, message }) => ({ place: placeText(path), path, message })),
      );
    }
    const { changes, unchanged } = applied.plan;
    return {
      version: applied.version,
      ...countsOf(changes),
      unchanged,
      changes: changes.map((change) => shownChange(entities, change) as unknown as ApplyOutcome['changes'][number]),
      truncated: false,
    };
  }

  async export(options: ExportOptions): Promise<string> {
    const { rows } = await readConfig(this.#context);
    return exportConfig(rows, { ...options, entities: this.#context.entities, now: Date.now() });
  }

  async versions(limit: number): Promise<readonly ShownVersion[]> {
    const versions = await this.#store.listVersions({ order: 'desc', limit });
    return versions.map(({ createdAt, actor: name, ...version }) => ({
      ...version,
      actor: name === '' ? null : name,
      at: new Date(createdAt).toISOString(),
    }));
  }

  async rollback(version: number): Promise<RollbackOutcome> {
    const done = await rollbackConfig(this.#context, version, (writer) =>
      this.#trail('config rollback').record(writer, { action: 'rollback', note: `to version ${version}` }),
    );
    if (done === null) throw new CliError(`version ${version} of the config is not kept`);
    return { version: done.version, ...countsOf(done.plan.changes) };
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  #trail(path: string): AuditTrail {
    const origin = { actor, peer: '', client: '', requestId: '' };
    const entities = this.#settings.audit.enabled ? this.#context.entities : null;
    return new AuditTrail({ origin, method: 'CLI', path, status: 200 }, entities);
  }
}
