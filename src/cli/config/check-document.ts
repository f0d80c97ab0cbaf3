import type { ConfigDocument, ConfigProblem } from '../../control/declarative/contract.ts';
import { declareConfig } from '../../control/declarative/declare/declare-config.ts';
import { placedMessages, placeText } from '../../control/declarative/problems/problem-lines.ts';
import type { CommandContext } from '../command.ts';
import { settingsOf } from '../settings-of.ts';
import type { DocumentProblem } from './config-target.ts';
import { loadEntities } from './load-entities.ts';

export interface CheckedDocument {
  readonly problems: readonly DocumentProblem[];
  /** The same, as the declaration reports them. */
  readonly declared: readonly ConfigProblem[];
  /** Number of valid entities. */
  readonly entities: number;
}

/** Checks a document against the entities of a node with the settings of the command; nothing else is read. */
export async function checkDocument(context: CommandContext, document: ConfigDocument): Promise<CheckedDocument> {
  const { settings } = settingsOf(context);
  const entities = await loadEntities(settings, context.cwd);
  const { hashKeys } = settings;
  const declared = await declareConfig(document, { entities, hashKeys, current: {}, now: Date.now() });
  return {
    problems: placedMessages(declared.problems).map(({ path, message }) => ({ place: placeText(path), path, message })),
    declared: declared.problems,
    entities: Object.values(declared.rows).reduce((sum, rows) => sum + rows.length, 0),
  };
}
