import { documentFrom } from '../../../control/declarative/document/parse-document.ts';
import { CliError } from '../../cli-error.ts';
import { type ConfigTarget, InvalidDocument } from '../../config/config-target.ts';
import type { KongDocument } from './convert/kong-document.ts';
import { type KongEntity, printable } from './kong-entity.ts';
import type { ChangeCounts } from './report/import-report.ts';

export interface ApplyOptions {
  /** `replace` removes what the document does not have. */
  readonly mode: 'merge' | 'replace';
  /** Hides the secrets of an entity in a message about it. */
  readonly withoutSecrets: (text: string, entity: KongEntity) => string;
}

const maxProblems = 20;

/** Writes the document into the gateway, all of it or nothing. Rejects with a `CliError` when the gateway refuses it. */
export async function applyDocument(
  target: ConfigTarget,
  { content, entityAt }: KongDocument,
  { mode, withoutSecrets }: ApplyOptions,
): Promise<ChangeCounts> {
  try {
    const outcome = await target.apply(documentFrom(content), { mode, selectTags: [] }, false);
    const { created, updated, deleted, unchanged } = outcome;
    return { created, updated, deleted, unchanged };
  } catch (error) {
    if (!(error instanceof InvalidDocument)) throw error;
    const lines = error.problems.slice(0, maxProblems).map(({ path, message }) => {
      const entity = entityAt(path);
      return entity === null ? message : `${entity.label}: ${withoutSecrets(message, entity)}`;
    });
    const more = error.problems.length - lines.length;
    const text = [...lines, ...(more > 0 ? [`and ${more} more`] : [])].map(printable).join('; ');
    throw new CliError(`the gateway refuses the config, nothing was written: ${text}`);
  }
}
