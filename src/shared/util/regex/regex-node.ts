import type { CharSet } from './char-set.ts';

/** A parsed regular expression. It has no look-around and no back-references, so it can be matched in linear time. */
export type RegexNode =
  | { readonly kind: 'char'; readonly set: CharSet }
  | { readonly kind: 'assert'; readonly what: 'start' | 'end' | 'word' | 'notWord' }
  | { readonly kind: 'sequence'; readonly items: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly options: readonly RegexNode[] }
  | RepeatNode
  | { readonly kind: 'group'; readonly name: string | null; readonly item: RegexNode };

export interface RepeatNode {
  readonly kind: 'repeat';
  readonly item: RegexNode;
  readonly min: number;
  /** Infinity for an unbounded repetition. */
  readonly max: number;
  readonly lazy: boolean;
}

export const EMPTY: RegexNode = { kind: 'sequence', items: [] };

export function hasCapture(node: RegexNode): boolean {
  switch (node.kind) {
    case 'group':
      return true;
    case 'repeat':
      return hasCapture(node.item);
    case 'sequence':
      return node.items.some(hasCapture);
    case 'choice':
      return node.options.some(hasCapture);
    default:
      return false;
  }
}

export function isNullable(node: RegexNode): boolean {
  switch (node.kind) {
    case 'char':
      return false;
    case 'assert':
      return true;
    case 'group':
      return isNullable(node.item);
    case 'repeat':
      return node.min === 0 || isNullable(node.item);
    case 'sequence':
      return node.items.every(isNullable);
    case 'choice':
      return node.options.some(isNullable);
  }
}

/** The longest text the expression can match, in code units; Infinity when there is no bound. */
export function maxLength(node: RegexNode): number {
  switch (node.kind) {
    case 'char':
      return 1;
    case 'assert':
      return 0;
    case 'group':
      return maxLength(node.item);
    case 'repeat': {
      const once = maxLength(node.item);
      return once === 0 ? 0 : once * node.max;
    }
    case 'sequence':
      return node.items.reduce((sum, item) => sum + maxLength(item), 0);
    case 'choice':
      return node.options.reduce((longest, option) => Math.max(longest, maxLength(option)), 0);
  }
}

/** The number of single-character steps after counted repetitions are written out. */
export function expandedSize(node: RegexNode): number {
  switch (node.kind) {
    case 'char':
    case 'assert':
      return 1;
    case 'group':
      return 1 + expandedSize(node.item);
    case 'repeat':
      return 1 + expandedSize(node.item) * (node.max === Number.POSITIVE_INFINITY ? node.min + 1 : node.max);
    case 'sequence':
      return node.items.reduce((sum, item) => sum + expandedSize(item), 0);
    case 'choice':
      return node.options.reduce((sum, option) => sum + 1 + expandedSize(option), 0);
  }
}
