import { setTimeout as pause } from 'node:timers/promises';
import type { PlanOptions } from '../../control/declarative/apply/plan-config.ts';
import type { ConfigDocument } from '../../control/declarative/contract.ts';
import { CliError } from '../cli-error.ts';
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
const deadline = 600_000;
/** Milliseconds to wait while another config is being applied. */
const busyLimit = 120_000;
const busyPause = 500;

/** Changes that an answer may contain. */
const maxChanges = 1_000_000;

type Fields = Readonly<Record<string, unknown>>;

interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** The config of a running node, over its Admin API. */
export class AdminTarget implements ConfigTarget {
  readonly #address: string;
  readonly #token: string | null;

  constructor(address: string, token: string | null) {
    if (!/^https?:\/\//.test(address) || !URL.canParse(address)) {
      throw new CliError(`--admin is not an http or https URL: '${address}'`);
    }
    this.#address = address.replace(/\/+$/, '');
    this.#token = token;
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
      return this.#accepted(answer, json) as unknown as ApplyOutcome;
    }
  }

  async export({ style, format }: ExportOptions): Promise<string> {
    const answer = await this.#send('GET', `/config/export?style=${style}&format=${format}`);
    if (answer.status !== 200) this.#accepted(answer, fieldsOf(answer));
    return answer.text;
  }

  async versions(limit: number): Promise<readonly ShownVersion[]> {
    const versions: ShownVersion[] = [];
    let next: string | null = `/config/versions?size=${Math.min(limit, 1000)}`;
    while (next !== null && versions.length < limit) {
      const answer: HttpAnswer = await this.#send('GET', next);
      const json = this.#accepted(answer, fieldsOf(answer));
      versions.push(...(json['data'] as readonly ShownVersion[]));
      next = typeof json['next'] === 'string' ? json['next'] : null;
    }
    return versions.slice(0, limit);
  }

  async rollback(version: number): Promise<RollbackOutcome> {
    const answer = await this.#send('POST', `/config/versions/${version}/rollback`);
    return this.#accepted(answer, fieldsOf(answer)) as unknown as RollbackOutcome;
  }

  async close(): Promise<void> {}

  #accepted({ status }: HttpAnswer, json: Fields): Fields {
    if (status >= 200 && status < 300) return json;
    if (status === 401) {
      throw new CliError('the Admin API requires a token: set SLUICEGATE_ADMIN_TOKEN, or pass --token-file');
    }
    const { message } = json;
    throw new CliError(typeof message === 'string' ? message : `the Admin API answered with status ${status}`);
  }

  async #send(method: string, path: string, body?: string): Promise<HttpAnswer> {
    try {
      const response = await fetch(this.#address + path, {
        method,
        redirect: 'error',
        signal: AbortSignal.timeout(deadline),
        headers: {
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...(this.#token !== null && { Authorization: `Bearer ${this.#token}` }),
        },
        ...(body !== undefined && { body }),
      });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const reason = cause instanceof Error ? cause.message || cause.name : String(cause);
      throw new CliError(`no answer from the Admin API at ${this.#address}: ${reason}`);
    }
  }
}

function fieldsOf({ status, text }: HttpAnswer): Fields {
  if (text === '') return {};
  try {
    return JSON.parse(text) as Fields;
  } catch {
    throw new CliError(`the Admin API answered with status ${status} and no JSON`);
  }
}
