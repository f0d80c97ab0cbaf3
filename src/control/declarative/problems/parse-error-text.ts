import type { ErrorNode } from '../../../shared/schema/validate.ts';
import type { ConfigProblem } from '../contract.ts';
import { kongFields } from './kong-fields.ts';

/**
 * The problems as `kong config parse` prints them:
 *
 * ```
 * Failed parsing:
 *   in 'services':
 *     - in entry 1 of 'services':
 *       in 'host': required field missing
 * ```
 */
export function parseErrorText(problems: readonly ConfigProblem[]): string {
  return ['Failed parsing:', ...linesOf(kongFields(problems), '  ', '')].join('\n');
}

function linesOf(node: ErrorNode, indent: string, name: string): readonly string[] {
  if (typeof node === 'string') return [`${indent}${node}`];
  if (Array.isArray(node)) {
    return node.flatMap((item, index) => (item === null ? [] : entryLines(item, indent, name, String(index + 1))));
  }
  return Object.entries(node)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, item]) => fieldLines(key, item, indent, name));
}

function fieldLines(key: string, item: ErrorNode | null, indent: string, name: string): readonly string[] {
  if (item === null) return [];
  if (key === '@entity') return (Array.isArray(item) ? item : [item]).map((text) => `${indent}${String(text)}`);
  if (/^\d+$/.test(key)) return entryLines(item, indent, name, key);
  if (typeof item === 'string') return [`${indent}in '${key}': ${item}`];
  return [`${indent}in '${key}':`, ...linesOf(item, `${indent}  `, key)];
}

function entryLines(item: ErrorNode, indent: string, name: string, position: string): readonly string[] {
  const head = `${indent}- in entry ${position} of '${name}':`;
  return typeof item === 'string' ? [`${head} ${item}`] : [head, ...linesOf(item, `${indent}  `, name)];
}
