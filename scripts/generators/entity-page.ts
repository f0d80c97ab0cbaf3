import type { EntityDefinition } from '../../src/entities/entity.ts';
import { createEntityRegistry } from '../../src/entities/registry.ts';
import { loadPlugins } from '../../src/plugin-runner/load-plugins.ts';
import { exportMarkdownTable } from '../../src/schema/export-markdown.ts';
import type { Generator } from '../lib/generated-file.ts';

const head = `# Entities

What the Admin API stores. Every entity is created, read, changed and deleted under its path; the fields below are those of the
JSON bodies. A reference is written \`{"id": "..."}\`, or with another unique field of the entity it refers to.
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
  const lines = [`Path: ${paths.join(', ')}.`];
  if (definition.endpointKey !== null) lines.push(`Its \`${definition.endpointKey}\` may stand for the id in a path.`);
  if (definition.unique.length > 0)
    lines.push(`Unique: ${definition.unique.map((field) => `\`${field}\``).join(', ')}.`);
  for (const fields of definition.uniqueTogether)
    lines.push(`Unique together: ${fields.map((field) => `\`${field}\``).join(', ')}.`);
  if (definition.expires) lines.push('It expires when its `ttl` is over.');
  return lines;
}
