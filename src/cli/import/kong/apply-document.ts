import { setTimeout as wait } from 'node:timers/promises';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../plugin-kit/json/json.ts';
import { CliError } from '../../cli-error.ts';
import type { AdminClient } from '../admin-client.ts';
import type { KongDocument } from './convert/kong-document.ts';
import { type KongEntity, printable } from './kong-entity.ts';
import type { WrittenTo } from './report/import-report.ts';

export interface ApplyOptions {
  /** `replace` removes what the document does not have. */
  readonly mode: 'merge' | 'replace';
  /** Hides the secrets of an entity in a message about it. */
  readonly withoutSecrets: (text: string, entity: KongEntity) => string;
}

/** Milliseconds for the whole config, in one transaction. */
const timeout = 280_000;

const busyAttempts = 30;
const maxProblems = 20;

/** Writes the document into the gateway, all of it or nothing. Rejects with a `CliError` when the gateway refuses it. */
export async function applyDocument(
  admin: AdminClient,
  { content, entityAt }: KongDocument,
  { mode, withoutSecrets }: ApplyOptions,
): Promise<WrittenTo> {
  const { status, body } = await answerOf(admin, content as JsonObject, mode);
  const fields = isJsonObject(body) ? body : {};
  if (status >= 200 && status < 300) {
    const count = (name: string): number => Number(fields[name] ?? 0);
    const changes = {
      created: count('created'),
      updated: count('updated'),
      deleted: count('deleted'),
      unchanged: count('unchanged'),
    };
    return { to: admin.address, changes };
  }
  const problems = Array.isArray(fields['problems']) ? fields['problems'].filter(isJsonObject) : [];
  if (problems.length === 0) throw new CliError(`the gateway refuses the config: ${status} ${text(fields['message'])}`);
  const lines = problems.slice(0, maxProblems).map(({ path, message }) => {
    const entity = entityAt(Array.isArray(path) ? (path as (string | number)[]) : []);
    return entity === null ? text(message) : `${entity.label}: ${withoutSecrets(text(message), entity)}`;
  });
  const more = problems.length > maxProblems ? [`and ${problems.length - maxProblems} more`] : [];
  throw new CliError(
    `the gateway refuses the config, nothing was written: ${[...lines, ...more].map(printable).join('; ')}`,
  );
}

/** Another config may be on its way into the gateway. */
async function answerOf(admin: AdminClient, content: JsonObject, mode: string) {
  for (let attempt = 1; ; attempt++) {
    const answer = await admin.post(`/config/apply?mode=${mode}&changes=0`, content, timeout);
    if (answer.status !== 429 || attempt === busyAttempts) return answer;
    await wait(1000);
  }
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
