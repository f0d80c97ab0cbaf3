import type { EntityDefinition } from '../../src/shared/entities/entity.ts';
import { createEntityRegistry } from '../../src/shared/entities/registry.ts';
import { loadPlugins } from '../../src/shared/plugin-loader/load-plugins.ts';
import { exportMarkdownTable } from '../../src/shared/schema/export/export-markdown.ts';
import type { Generator } from '../lib/generated-file.ts';

const head = `# Entities

What the Admin API stores. You create, read, change and delete each entity under its path, with the
fields below as the JSON body. Write a reference as \`{"id": "..."}\`, or with another unique field of
the entity that it refers to. Entities without a path belong to the gateway itself.
`;

/** One table of fields for each entity. The plugin catalog is left empty: the configuration of a plugin is in its README. */
export const generateEntityPage: Generator = async () => {
  const plugins = await loadPlugins(['bundled']);
  const brought = await Promise.all([...plugins.values()].map((plugin) => plugin.loadEntities()));
  const registry = createEntityRegistry({ names: () => [], describe: () => null }, brought.flat());
  const sections = registry.definitions.map((definition) => section(definition, registry.definitions));
  return [{ path: 'docs/entities.md', content: `${[head, ...sections].join('\n')}` }];
};

function section(definition: EntityDefinition, all: readonly EntityDefinition[]): string {
  return `## ${definition.name}\n\n${facts(definition, all).join(' ')}\n\n${exportMarkdownTable(definition.schema)}`;
}

function facts(definition: EntityDefinition, all: readonly EntityDefinition[]): readonly string[] {
  const nested = definition.nestedUnder.map(({ entity, path }) => {
    const parent = all.find((candidate) => candidate.name === entity);
    return `\`/${parent?.path ?? entity}/{${entity}}/${path}\``;
  });
  const paths = [...(definition.path === null ? [] : [`\`/${definition.path}\``]), ...nested];
  const lines = [paths.length === 0 ? 'No path.' : `Path: ${paths.join(', ')}.`];
  if (definition.endpointKey !== null)
    lines.push(`You can use its \`${definition.endpointKey}\` instead of the id in a path.`);
  if (definition.unique.length > 0)
    lines.push(`Unique: ${definition.unique.map((field) => `\`${field}\``).join(', ')}.`);
  for (const fields of definition.uniqueTogether)
    lines.push(`Unique together: ${fields.map((field) => `\`${field}\``).join(', ')}.`);
  if (definition.expires) lines.push('It expires after its `ttl`.');
  return lines;
}
