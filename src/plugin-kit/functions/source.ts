import { Script } from 'node:vm';
import { luaProblem } from './lua.ts';

/**
 * A function of the configuration is one JavaScript expression. The parentheses make it one, and the end of the line ends a comment in
 * its last line.
 */
export function asExpression(text: string): { readonly before: string; readonly code: string } {
  const before = `'use strict';(`;
  return { before, code: `${before}${withoutSemicolon(text)}\n)` };
}

/** Why the text is not a function, or null. It is parsed, and not run. */
export function sourceProblem(text: string): string | null {
  const syntax = syntaxProblem(text);
  if (syntax === null && startsLikeFunction(text)) return null;
  return luaProblem(text) ?? syntax ?? `not a function: write (context) => { ${shortened(text)} }`;
}

/**
 * Words that a function in the sandbox must not contain. With `import()` and with promises code would run outside of the calls that the
 * sandbox watches, with objects of the gateway (docs/decisions/0048). They are refused as words, also in texts and comments, because
 * only a whole parser could tell these apart.
 */
const forbiddenWord = /\b(?:async|await|import)\b/;

/** Why the sandbox does not take the text, or null. */
export function sandboxProblem(text: string): string | null {
  const word = forbiddenWord.exec(text);
  if (word === null) return null;
  const { line, column } = placeAt(text, word.index);
  return `line ${line}, column ${column}: the sandbox has no '${word[0]}', and refuses the word also in texts and comments`;
}

/** An arrow function, `function`, or something in parentheses that gives one. */
function startsLikeFunction(text: string): boolean {
  return /^(?:async\b|function\b|\(|[A-Za-z_$][\w$]*\s*=>)/.test(withoutLeadingComments(text));
}

function withoutLeadingComments(text: string): string {
  let rest = text.trimStart();
  for (;;) {
    const comment = /^(?:\/\/[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)/.exec(rest);
    if (comment === null) return rest;
    rest = rest.slice(comment[0].length).trimStart();
  }
}

/** A function that was copied from a file often ends with one. */
function withoutSemicolon(text: string): string {
  return text.trimEnd().replace(/;$/, '');
}

function syntaxProblem(text: string): string | null {
  const { before, code } = asExpression(text);
  try {
    new Script(code, { filename: 'function' });
    return null;
  } catch (error) {
    if (!(error instanceof Error)) return String(error);
    const place = markedPlace(error, before.length);
    if (place !== null && place.line > text.trimEnd().split('\n').length) return 'the end of the function is missing';
    return place === null ? error.message : `line ${place.line}, column ${place.column}: ${error.message}`;
  }
}

interface Place {
  readonly line: number;
  readonly column: number;
}

/** Node puts an excerpt before the stack: the name and the line, the line itself, and a mark below the column. */
function markedPlace({ stack = '' }: Error, prefix: number): Place | null {
  const [first = '', , mark = ''] = stack.split('\n');
  const [, digits] = /^function:(\d+)$/.exec(first) ?? [];
  const at = mark.indexOf('^');
  if (digits === undefined || at < 0) return null;
  const line = Number(digits);
  return { line, column: Math.max(1, at + 1 - (line === 1 ? prefix : 0)) };
}

function placeAt(text: string, index: number): Place {
  const before = text.slice(0, index).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function shortened(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length < text.trim().length || line.length > 60 ? `${line.slice(0, 60)}...` : line;
}
