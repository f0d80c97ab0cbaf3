import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadedConfig } from '../../control/declarative/db-less/declarative-config.ts';
import { placedMessages } from '../../control/declarative/problems/problem-lines.ts';
import type { CodeProblem } from '../../shared/development/code-problem.ts';

/** The file next to a plugin that has the configuration of its instance, where its defaults are not enough. */
export const configFile = 'dev.config.json';

/** A plugin of the example. */
export interface ExamplePlugin {
  readonly name: string;
  /** Where `dev.config.json` may be; null: nowhere. */
  readonly folder: string | null;
}

const maxFile = 1_000_000;

/** One route for every path, the echo backend, and a global instance of each plugin, as a declarative document. */
export function exampleConfig(backend: string, plugins: readonly ExamplePlugin[]): string {
  return JSON.stringify({
    _format_version: '3.0',
    services: [{ name: 'echo', url: backend, routes: [{ name: 'everything', paths: ['/'], strip_path: false }] }],
    plugins: plugins.map(({ name, folder }) => ({ name, config: configOf(folder) })),
  });
}

/** Throws one line when the file of the plugin cannot be read. */
function configOf(folder: string | null): unknown {
  const text = folder === null ? null : textOf(join(folder, configFile));
  if (text === null) return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${configFile} is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${configFile} must be a JSON object: the config of the plugin`);
  return value;
}

/** Null: there is no such file. */
function textOf(path: string): string | null {
  try {
    const text = readFileSync(path, 'utf8');
    return text.length > maxFile ? '' : text;
  } catch {
    return null;
  }
}

/** Why the example could not be used, by plugin; empty: it is in use. */
export function configProblems({ problems }: Pick<LoadedConfig, 'problems'>, plugins: readonly ExamplePlugin[]) {
  const messages = new Map<string, string[]>();
  for (const { path, message } of placedMessages(problems)) {
    const [collection, index, ...field] = path;
    const name = collection === 'plugins' ? plugins[Number(index)]?.name : undefined;
    const lines = messages.get(name ?? 'the config') ?? [];
    lines.push(field.length === 0 ? message : `${field.join('.')}: ${message}`);
    messages.set(name ?? 'the config', lines);
  }
  return [...messages].map(
    ([plugin, lines]): CodeProblem => ({
      plugin,
      title: 'its configuration is not valid',
      message: [...lines, `Write the configuration to ${configFile}, next to the plugin: a JSON object.`].join('\n'),
      place: null,
      excerpt: null,
    }),
  );
}
