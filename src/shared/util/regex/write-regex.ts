import type { CharSet } from './char-set.ts';
import { onlyMember } from './char-set.ts';
import { hasCapture, type RegexNode, type RepeatNode } from './regex-node.ts';

/** Iterations that V8's linear engine repeats by itself; more must be written out. */
const MAX_NATIVE_ITERATIONS = 16;

/**
 * Writes the expression as JavaScript source. With `expand` counted repetitions are written out, because V8's linear
 * engine rejects large counts.
 */
export function writeRegex(node: RegexNode, expand: boolean, withCaptures = true): string {
  switch (node.kind) {
    case 'char':
      return writeSet(node.set);
    case 'assert':
      return ASSERTS[node.what];
    case 'group': {
      const open = withCaptures ? (node.name === null ? '(' : `(?<${node.name}>`) : '(?:';
      return `${open}${writeRegex(node.item, expand, withCaptures)})`;
    }
    case 'sequence':
      return node.items.map((item) => writeItem(item, expand, withCaptures)).join('');
    case 'choice':
      return node.options.map((option) => writeRegex(option, expand, withCaptures)).join('|');
    case 'repeat':
      return writeRepeat(node, expand, withCaptures);
  }
}

const ASSERTS = { start: '^', end: '$', word: '\\b', notWord: '\\B' } as const;

/** As part of a sequence, or under a quantifier: what has lower precedence gets a group. */
function writeItem(node: RegexNode, expand: boolean, withCaptures: boolean): string {
  const text = writeRegex(node, expand, withCaptures);
  return node.kind === 'choice' ? `(?:${text})` : text;
}

function writeRepeat(node: RepeatNode, expand: boolean, withCaptures: boolean): string {
  const once = writeIteration(node.item, expand, withCaptures);
  const lazy = node.lazy ? '?' : '';
  if (!isCounted(node)) return once + shortQuantifier(node) + lazy;
  if (!expand) return `${once}{${node.min},${Number.isFinite(node.max) ? node.max : ''}}${lazy}`;

  const open = !Number.isFinite(node.max);
  const keepsCaptures = withCaptures && hasCapture(node.item);
  if (!keepsCaptures) {
    const tail = open ? `${once}*${lazy}` : `${once}?${lazy}`.repeat(node.max - node.min);
    return once.repeat(node.min) + tail;
  }
  // A capture keeps the text of the last iteration, so all iterations but the last are written without it.
  const silent = writeIteration(node.item, expand, false);
  if (open) return `${silent.repeat(Math.max(0, node.min - 1))}${once}+${lazy}`;
  if (node.min === node.max) return silent.repeat(node.min - 1) + once;
  if (node.max <= MAX_NATIVE_ITERATIONS) return `${once}{${node.min},${node.max}}${lazy}`;
  throw new Error(
    `a repetition of a capturing group is limited to ${MAX_NATIVE_ITERATIONS} turns; capture around it instead`,
  );
}

function writeIteration(item: RegexNode, expand: boolean, withCaptures: boolean): string {
  const text = writeRegex(item, expand, withCaptures);
  return item.kind === 'char' || item.kind === 'group' ? text : `(?:${text})`;
}

function isCounted({ min, max }: RepeatNode): boolean {
  return min > 1 || (max > 1 && Number.isFinite(max));
}

function shortQuantifier({ min, max }: RepeatNode): string {
  if (max === 0) return '{0}';
  if (max === 1) return min === 0 ? '?' : '';
  return min === 0 ? '*' : '+';
}

function writeSet(set: CharSet): string {
  const only = onlyMember(set);
  if (only >= 0) return writeChar(only);
  let body = '';
  for (let i = 0; i < set.length; i += 2) {
    const from = set[i]!;
    const to = set[i + 1]!;
    body += from === to ? writeChar(from) : `${writeChar(from)}-${writeChar(to)}`;
  }
  return `[${body}]`;
}

function writeChar(code: number): string {
  const char = String.fromCharCode(code);
  if (/[A-Za-z0-9/_]/.test(char)) return char;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
