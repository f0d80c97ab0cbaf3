import { setEngineFlags } from './process/engine-flags.ts';
import { isDeterministic } from './regex/is-deterministic.ts';
import { parseRegex, type RegexOptions } from './regex/parse-regex.ts';
import { expandedSize, maxLength, type RegexNode } from './regex/regex-node.ts';
import { writeRegex } from './regex/write-regex.ts';

/** Bounds the work per character of text. */
const MAX_SIZE = 2000;

/** V8's own flag for its engine without backtracking. */
const LINEAR = 'l';

/** An unanchored search tries every start; up to this match length that is still linear with a small factor. */
const MAX_UNANCHORED_LENGTH = 64;

/**
 * Compiles a regular expression whose matching time is linear in the text, whatever the text is. Throws an `Error`
 * that says what is wrong with the expression.
 *
 * `source` is written in the syntax of Rust's `regex` and RE2: no look-around, no back-references, `(?P<name>...)` or
 * `(?<name>...)`, `(?i)`, `(?s)`, `[[:alpha:]]`. Classes such as `\w` and the case of letters are ASCII only.
 * `flags`: any of `i` (ignore case), `s` (dot matches newline), `g`, `y` (as in JavaScript); default none.
 */
export function compileRegex(source: string, flags = ''): RegExp {
  const unknown = /[^isgy]/.exec(flags);
  if (unknown !== null) throw new Error(`unknown regular expression flag '${unknown[0]}'`);
  const options: RegexOptions = { ignoreCase: flags.includes('i'), dotAll: flags.includes('s'), bytes: false };
  return buildRegex(parseRegex(source, options), flags.replace(/[is]/g, ''));
}

/**
 * Builds the `RegExp` of a parsed expression. Deterministic ones run on V8's ordinary engine, which is ten times as fast
 * and cannot backtrack far on them; the others on its linear one (docs/decisions/0003-linear-regex.md).
 */
export function buildRegex(node: RegexNode, flags = ''): RegExp {
  if (expandedSize(node) > MAX_SIZE) throw new Error(`regular expression too large: over ${MAX_SIZE} steps`);
  if (isDeterministic(node) && (isAnchored(node) || flags.includes('y') || maxLength(node) <= MAX_UNANCHORED_LENGTH)) {
    return new RegExp(writeRegex(node, false), flags);
  }
  setEngineFlags();
  return new RegExp(writeRegex(node, true), flags + LINEAR);
}

function isAnchored(node: RegexNode): boolean {
  if (node.kind === 'assert') return node.what === 'start';
  return node.kind === 'sequence' && node.items[0] !== undefined && isAnchored(node.items[0]);
}
