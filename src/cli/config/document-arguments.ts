import type { PlanOptions } from '../../control/declarative/apply/plan-config.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import type { InvalidDocument } from './config-target.ts';
import { type ReadDocument, readDocuments } from './read-documents.ts';

/** The words after the name of the subcommand. */
export function filesOf({ arguments: { positionals } }: CommandContext, usage: string): readonly string[] {
  const files = positionals.slice(1);
  if (files.length === 0) throw new CliError(`usage: sluicegate config ${usage}`);
  if (files.filter((file) => file === '-').length > 1) throw new CliError('standard input can be read only once');
  return files;
}

export function readFiles(context: CommandContext, usage: string): Promise<ReadDocument> {
  return readDocuments(filesOf(context, usage), context.cwd);
}

export function planOptionsOf(
  { arguments: { options, lists } }: CommandContext,
  { selectTags }: Pick<ReadDocument, 'selectTags'>,
): PlanOptions {
  return {
    mode: options['merge'] === true ? 'merge' : 'replace',
    selectTags: [...new Set([...selectTags, ...(lists['select-tag'] ?? [])])],
  };
}

/** `kong.yaml:12: services[0].port: value should be between 0 and 65535`, a line for each problem. */
export function problemText({ problems }: InvalidDocument, { placeOf }: Pick<ReadDocument, 'placeOf'>): string {
  return problems
    .map(({ path, place, message }) => `${placeOf(path)}: ${place === '' ? '' : `${place}: `}${message}`)
    .join('\n');
}
