import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../src/plugin-sdk');

/** What a plugin is given, and what it returns. */
export const contextFiles = [
  ...['phases.ts', 'contexts.ts', 'stream-contexts.ts', 'request-views.ts', 'response-views.ts', 'calls.ts'],
  ...[
    'upstream-request-edit.ts',
    'attempts.ts',
    'trace.ts',
    'tools.ts',
    'entity-access.ts',
    'limits.ts',
    'circuits.ts',
  ],
  ...['shared-store.ts', 'zones.ts', 'background.ts', 'admin-routes.ts', 'metrics.ts'],
  ...['define-plugin.ts', 'time-budget.ts'],
];

/** Data that a plugin defines itself, modules with one export, and what `definePlugin` makes of a description. */
const unlisted: ReadonlySet<string> = new Set([
  ...['ContextKey', 'EntityRow', 'WindowLimit', 'ConfiguredInstance'],
  ...['PluginBackgroundModule', 'PluginAdminRoutes', 'PluginMetricsModule', 'PluginModule'],
  ...['PluginSchema', 'PluginEntities', 'Plugin', 'TypedPlugin', 'SchemaNode'],
]);

/** Options are documented where they are declared. */
function isListed(name: string): boolean {
  return !name.endsWith('Options') && !unlisted.has(name);
}

/** The members of each exported interface: `header`, and `measures.total` for one within a member. */
export function interfaceMembers(files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, name = '', body = ''] of text.matchAll(/^export interface (\w+)[^{]*\{\n(.*?)^\}/gms)) {
      if (isListed(name)) found.set(name, membersOf(body));
    }
  }
  return found;
}

const member = /^( {2,4})(?:readonly )?(\w+)\??(?:<[^>]+>)?[(:]/;

function membersOf(body: string): string[] {
  const names: string[] = [];
  /** The member whose type is written out, such as `measures: {`. */
  let within: string | null = null;
  for (const line of body.split('\n')) {
    const [, indent = '', name = ''] = member.exec(line) ?? [];
    if (name !== '' && indent.length === 2) {
      names.push(name);
      within = line.endsWith('{') ? name : null;
    } else if (name !== '' && indent.length === 4 && within !== null) names.push(`${within}.${name}`);
    else if (/^ {2}\}/.test(line)) within = null;
  }
  return names;
}
