import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { planOf } from '../../control/apis/plan/plan-api.ts';
import { apiFields } from '../../control/apis/plan/plan-import.ts';
import { SchemaError } from '../../plugin-kit/json-schema/index.ts';
import { readDocument } from '../../plugin-kit/openapi/index.ts';
import { maxApiDocument } from '../../shared/entities/apis.ts';
import { AdminClient } from '../admin-api/admin-client.ts';
import { findAdmin } from '../admin-api/find-admin.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { applyPlan } from '../import/apply-plan.ts';
import { declarativeText } from '../import/declarative-text.ts';

/** `import openapi <file>`: creates the services and routes of an OpenAPI document in a running gateway. */
export async function importApi(context: CommandContext): Promise<number> {
  const [kind, file, extra] = context.arguments.positionals;
  if (kind !== 'openapi' || file === undefined)
    throw new CliError('usage: sluicegate import openapi <file> (see sluicegate import --help)');
  if (extra !== undefined) throw new CliError(`unexpected argument '${extra}'`);
  const { options } = context.arguments;
  const text = contentOf(resolve(context.cwd, file), file);
  const plan = refusable(file, () =>
    planOf(readDocument(text), text, {
      name: textOption(options, 'name'),
      server: textOption(options, 'server'),
      routePrefix: textOption(options, 'route-prefix') ?? '',
      tags: (textOption(options, 'tags') ?? '').split(',').filter((tag) => tag !== ''),
      validate: options['validate'] === true,
    }),
  );
  if (options['dry-run'] === true) {
    context.out(declarativeText(plan));
    return 0;
  }
  const tooLarge = text.length > maxApiDocument;
  const api = tooLarge ? null : apiFields(readDocument(text), text);
  await applyPlan(plan, api, new AdminClient(findAdmin(context)), context.out);
  if (tooLarge) context.out(`the document has more than ${maxApiDocument} characters, so no reference is shown`);
  return 0;
}

function textOption(options: CommandContext['arguments']['options'], name: string): string | null {
  const value = options[name];
  return typeof value === 'string' ? value : null;
}

function contentOf(path: string, shown: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CliError(`cannot read ${shown}: ${error instanceof Error ? error.message : error}`);
  }
}

function refusable<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof SchemaError ? new CliError(`${file}: ${error.message}`) : error;
  }
}
