import { byBytes, printTable } from './export/table-print.ts';
import type { ErrorNode, ErrorTree } from './validate.ts';

/**
 * Kong's one-line text for a tree of validation errors: messages on the record first, then the fields in alphabetical
 * order. One level of nesting is written as a path (1-based in lists), deeper ones as a table.
 */
export function violationMessage(fields: ErrorTree): string {
  const parts: string[] = [];
  const onRecord = fields['@entity'];
  if (Array.isArray(onRecord)) parts.push(...onRecord.map(String));
  for (const name of Object.keys(fields).sort(byBytes)) {
    if (name === '@entity') continue;
    const node = fields[name];
    if (typeof node === 'string') parts.push(`${name}: ${node}`);
    else if (node !== undefined) parts.push(...inner(node).map(([key, text]) => `${name}.${key}: ${text}`));
  }
  if (parts.length === 1) return `schema violation (${parts[0]})`;
  return `${parts.length} schema violations (${parts.join('; ')})`;
}

function inner(node: Exclude<ErrorNode, string>): readonly (readonly [string, string])[] {
  const entries: readonly (readonly [string, ErrorNode | null | undefined])[] = isList(node)
    ? node.map((item, index) => [String(index + 1), item] as const)
    : Object.keys(node)
        .sort(byBytes)
        .map((key) => [key, node[key]] as const);
  return entries.flatMap(([key, item]) => {
    if (item === null || item === undefined) return [];
    return [[key, typeof item === 'string' ? item : printTable(item, '  ')] as const];
  });
}

function isList(node: Exclude<ErrorNode, string>): node is readonly (ErrorNode | null)[] {
  return Array.isArray(node);
}
