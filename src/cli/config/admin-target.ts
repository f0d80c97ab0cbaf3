import { setTimeout as pause } from 'node:timers/promises';
import type { PlanOptions } from '../../control/declarative/apply/plan-config.ts';
import type { ConfigDocument } from '../../control/declarative/contract.ts';
import { type AdminAnswer, type AdminApi, jsonOf, requireAccepted } from '../admin-api/admin-api.ts';
import {
  type ApplyOutcome,
  type ConfigTarget,
  type DocumentProblem,
  type ExportOptions,
  InvalidDocument,
  type RollbackOutcome,
  type ShownVersion,
} from './config-target.ts';

/** Milliseconds for one request: a large config takes a minute or more. */
const timeout = 600_000;
/** Milliseconds to wait while another config is being applied. */
const busyLimit = 120_000;
const busyPause = 500;

/** Changes that an answer may contain. */
const maxChanges = 1_000_000;

type Fields = Readonly<Record<string, unknown>>;

/** The config of a running node, over its Admin API. */
export class AdminTarget implements ConfigTarget {
  readonly #api: AdminApi;

  constructor(api: AdminApi) {
    this.#api = api;
  }

  async apply({ content }: ConfigDocument, { mode, selectTags }: PlanOptions, dryRun: boolean): Promise<ApplyOutcome> {
    const query = new URLSearchParams({ mode, changes: String(maxChanges) });
    for (const tag of selectTags) query.append('select_tag', tag);
    const body = JSON.stringify(content);
    const until = performance.now() + busyLimit;
    for (;;) {
      const answer = await this.#send('POST', `/config/${dryRun ? 'diff' : 'apply'}?${query}`, body);
      if (answer.status === 429 && performance.now() < until) {
        await pause(busyPause);
        continue;
      }
      const json = fieldsOf(answer);
      const { problems } = json;
      if (answer.status === 400 && Array.isArray(problems) && problems.length > 0) {
        throw new InvalidDocument(problems as readonly DocumentProblem[]);
      }
      return accepted(answer) as unknown as ApplyOutcome;
    }
  }

  async export({ style, format }: ExportOptions): Promise<string> {
    const answer = await this.#send('GET', `/config/export?style=${style}&format=${format}`);
    if (answer.status !== 200) accepted(answer);
    return answer.text;
  }

  async versions(limit: number): Promise<readonly ShownVersion[]> {
    const versions: ShownVersion[] = [];
    let next: string | null = `/config/versions?size=${Math.min(limit, 1000)}`;
    while (next !== null && versions.length < limit) {
      const answer: AdminAnswer = await this.#send('GET', next);
      const json = accepted(answer);
      versions.push(...(json['data'] as readonly ShownVersion[]));
      next = typeof json['next'] === 'string' ? json['next'] : null;
    }
    return versions.slice(0, limit);
  }

  async rollback(version: number): Promise<RollbackOutcome> {
    const answer = await this.#send('POST', `/config/versions/${version}/rollback`);
    return accepted(answer) as unknown as RollbackOutcome;
  }

  async close(): Promise<void> {}

  #send(method: string, path: string, body?: string): Promise<AdminAnswer> {
    return this.#api.send(method, path, timeout, body);
  }
}

function accepted(answer: AdminAnswer): Fields {
  const json = fieldsOf(answer);
  const { message } = json;
  requireAccepted(
    answer,
    typeof message === 'string' ? message : `the Admin API answered with status ${answer.status}`,
  );
  return json;
}

function fieldsOf(answer: AdminAnswer): Fields {
  return jsonOf(answer) as Fields;
}
