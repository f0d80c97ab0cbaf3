import type { ErrorNode, ErrorTree } from '../../../shared/schema/validate.ts';

export interface FlatMessage {
  /** Dotted, positions from 1: `config.hosts.2`. Empty: the record as a whole. */
  readonly path: string;
  readonly message: string;
}

/** The messages of a tree, by their fields. Those for a nested record are messages of the whole, as in Kong. */
export function flattenTree(tree: ErrorTree): readonly FlatMessage[] {
  const messages: FlatMessage[] = [];
  collect(tree, '', messages);
  return messages;
}

function collect(node: ErrorNode | null, path: string, messages: FlatMessage[]): void {
  if (node === null) return;
  if (typeof node === 'string') messages.push({ path, message: node });
  else if (Array.isArray(node)) {
    for (const [index, item] of node.entries()) collect(item, joined(path, String(index + 1)), messages);
  } else {
    for (const [key, item] of Object.entries(node).sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (key !== '@entity') collect(item, joined(path, key), messages);
      else for (const text of Array.isArray(item) ? item : [item]) messages.push({ path: '', message: String(text) });
    }
  }
}

function joined(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
