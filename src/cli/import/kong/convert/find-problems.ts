import type { ConfigProblem } from '../../../../control/declarative/contract.ts';
import { declareConfig } from '../../../../control/declarative/declare/declare-config.ts';
import { documentFrom } from '../../../../control/declarative/document/parse-document.ts';
import { problemLines } from '../../../../control/declarative/problems/problem-lines.ts';
import type { EntityRegistry } from '../../../../shared/entities/registry.ts';
import { CliError } from '../../../cli-error.ts';
import { isFields, type KongEntity } from '../kong-entity.ts';
import { kongDocument } from './kong-document.ts';

/** Messages for one entity. */
const maxMessages = 3;

/** What is wrong with entities, by the rules of this gateway. Plugins that are not bundled are not checked. */
export async function findProblems(
  format: string,
  entities: readonly KongEntity[],
  registry: EntityRegistry,
): Promise<ReadonlyMap<KongEntity, string>> {
  const checked = entities.filter((entity) => isBundled(entity, registry));
  const { content, entityAt } = kongDocument(format, checked);
  const { problems } = await declareConfig(documentFrom(content), {
    entities: registry,
    hashKeys: false,
    current: {},
    now: Date.now(),
  });
  const found = new Map<KongEntity, string>();
  for (const problem of problems) {
    const entity = entityAt(problem.path);
    if (entity === null) throw new CliError(`the config cannot be read: ${problemLines([problem])[0] ?? ''}`);
    if (!found.has(entity)) found.set(entity, textOf(problem, entity, registry));
  }
  return found;
}

function isBundled({ collection, fields }: KongEntity, registry: EntityRegistry): boolean {
  if (collection !== 'plugins') return true;
  const definition = registry.byName('plugins');
  return definition?.schemaFor?.(fields, 'create') !== definition?.schema;
}

function textOf(problem: ConfigProblem, entity: KongEntity, registry: EntityRegistry): string {
  const lines = problemLines([{ ...problem, path: [], position: null }]);
  const more = lines.length > maxMessages ? [`and ${lines.length - maxMessages} more`] : [];
  const text = [...lines.slice(0, maxMessages), ...more].join('; ');
  return withoutSecrets(text, entity, registry);
}

/** Messages may quote values, also those of secrets. */
export function withoutSecrets(text: string, entity: KongEntity, registry: EntityRegistry): string {
  return secretsOf(entity, registry).reduce((masked, secret) => masked.replaceAll(secret, '***'), text);
}

function secretsOf({ collection, fields }: KongEntity, registry: EntityRegistry): readonly string[] {
  const schema = registry.byName(collection)?.schema;
  const own = Object.entries(fields).filter(([name]) => schema?.fields.get(name)?.meta.encrypted === true);
  const values = [...own.map(([, value]) => value), ...configSecrets(fields['config'])];
  return values.filter((value) => typeof value === 'string' && value.length > 0) as string[];
}

const secretName = /secret|password|token|key$|credential/i;

function configSecrets(config: unknown): readonly unknown[] {
  if (!isFields(config)) return [];
  return Object.entries(config).flatMap(([name, value]) =>
    isFields(value) ? configSecrets(value) : secretName.test(name) ? [value].flat() : [],
  );
}
