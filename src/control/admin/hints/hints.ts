import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import type { AdminLog } from '../admin-log.ts';
import type { Answer, OperationNotes } from '../http/admin-route.ts';
import { HttpError, withHint } from '../http/http-error.ts';
import type { RequestBody } from '../http/request-body.ts';
import { violationHint } from './violation-hint.ts';
import { writeHint } from './write-hint.ts';

export interface HintOptions {
  readonly entities: EntityRegistry;
  readonly pluginNames: readonly string[];
  readonly log: AdminLog;
}

/** Hints for clients: how to fix a refused request, and warnings about an accepted one. */
export interface Hints {
  /** The error, with a `hint` member if there is one. */
  refused(error: unknown, notes: OperationNotes, body: RequestBody): unknown;
  /** The answer, with the header `X-Sluicegate-Hint` if there is a hint, which is also logged. */
  accepted(answer: Answer, notes: OperationNotes, body: RequestBody, path: string): Answer;
}

const schemaViolationCode = 2;

export function createHints({ entities, pluginNames, log }: HintOptions): Hints {
  return {
    refused(error, notes, { form, value }) {
      if (!(error instanceof HttpError) || error.body['code'] !== schemaViolationCode) return error;
      const fields = error.body['fields'] as Readonly<Record<string, unknown>>;
      const definition = notes.entity === undefined ? undefined : entities.byName(notes.entity);
      return withHint(error, violationHint({ fields, input: value, form, definition, pluginNames }));
    },
    accepted(answer, notes, { value }, path) {
      const hint = writeHint(notes.entity, value, answer.json);
      if (hint === null) return answer;
      log.warn(hint, { path });
      return { ...answer, headers: { ...answer.headers, 'x-sluicegate-hint': headerText(hint) } };
    },
  };
}

function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}
