/**
 * Regular expressions in configuration follow the router's dialect: linear-time syntax without look-around and
 * back-references. What is left is a subset of JavaScript's, after a few spellings are rewritten.
 */
export type RegexTranslation =
  | { readonly ok: true; readonly source: string; readonly flags: string }
  | { readonly ok: false; readonly problem: string };

const INLINE_FLAGS = /^\(\?([imsux]+)\)/;
const NAMED_GROUP = /^\(\?P?<([A-Za-z_][A-Za-z0-9_]*)>/;
const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\s',
  word: '\\w',
  punct: '!-\\/:-@\\[-`{-~',
  xdigit: '0-9A-Fa-f',
};

/** Turns the text into the source and flags of a JavaScript `RegExp`. */
export function translateRegex(text: string): RegexTranslation {
  let rest = text;
  let flags = '';
  const inline = INLINE_FLAGS.exec(rest);
  if (inline?.[1] !== undefined) {
    if (/[ux]/.test(inline[1])) return refused('only the flags i, m and s are supported');
    flags = [...new Set(inline[1])].sort().join('');
    rest = rest.slice(inline[0].length);
  }
  let source = '';
  let inClass = false;
  for (let at = 0; at < rest.length; ) {
    const step: Step = inClass ? inClassStep(rest, at) : outsideClassStep(rest, at);
    if ('problem' in step) return refused(step.problem);
    source += step.output;
    at += step.length;
    if (step.inClass !== undefined) inClass = step.inClass;
  }
  try {
    new RegExp(source, flags);
  } catch (error) {
    return refused(
      error instanceof Error ? error.message.replace(/^Invalid regular expression: /, '') : 'syntax error',
    );
  }
  return { ok: true, source, flags };
}

/** What is wrong with the expression, or null. */
export function regexProblem(text: string): string | null {
  const translation = translateRegex(text);
  return translation.ok ? null : translation.problem;
}

/** Compiles an expression that has been validated. Throws when it was not. */
export function compileRegex(text: string, extraFlags = ''): RegExp {
  const translation = translateRegex(text);
  if (!translation.ok) throw new Error(`invalid regex: '${text}' (${translation.problem})`);
  return new RegExp(translation.source, [...new Set(translation.flags + extraFlags)].join(''));
}

type Step =
  | { readonly output: string; readonly length: number; readonly inClass?: boolean }
  | { readonly problem: string };

function outsideClassStep(text: string, at: number): Step {
  const char = text[at] ?? '';
  if (char === '\\') return escapeStep(text, at);
  if (char === '[') {
    const negated = text[at + 1] === '^';
    const start = at + (negated ? 2 : 1);
    // A bracket right at the beginning of a class is a literal one.
    const literal = text[start] === ']';
    return {
      output: `[${negated ? '^' : ''}${literal ? '\\]' : ''}`,
      length: start - at + (literal ? 1 : 0),
      inClass: true,
    };
  }
  if (char !== '(' || text[at + 1] !== '?') return { output: char, length: 1 };
  return groupStep(text.slice(at));
}

function groupStep(group: string): Step {
  if (/^\(\?<?[=!]/.test(group)) return { problem: 'look-around is not supported' };
  if (group.startsWith('(?>')) return { problem: 'atomic groups are not supported' };
  const named = NAMED_GROUP.exec(group);
  if (named !== null) return { output: `(?<${named[1]}>`, length: named[0].length };
  const modified = /^\(\?[ims]*(?:-[ims]+)?:/.exec(group);
  if (modified !== null) return { output: modified[0], length: modified[0].length };
  return { problem: 'unsupported group' };
}

function escapeStep(text: string, at: number): Step {
  const next = text[at + 1];
  if (next === undefined) return { problem: '\\ at end of pattern' };
  if (/[1-9]/.test(next) || next === 'k' || next === 'g') return { problem: 'back-references are not supported' };
  if (next === 'A') return { output: '^', length: 2 };
  if (next === 'z' || next === 'Z') return { output: '$', length: 2 };
  if (next === 'h') return { output: '[ \\t]', length: 2 };
  return hexStep(text, at) ?? { output: `\\${next}`, length: 2 };
}

function hexStep(text: string, at: number): Step | null {
  const hex = /^\\x\{([0-9a-fA-F]{1,4})\}/.exec(text.slice(at, at + 9));
  if (hex?.[1] === undefined) return null;
  return { output: `\\u${hex[1].padStart(4, '0')}`, length: hex[0].length };
}

function inClassStep(text: string, at: number): Step {
  const char = text[at] ?? '';
  if (char === ']') return { output: ']', length: 1, inClass: false };
  if (char === '\\') {
    const next = text[at + 1];
    if (next === undefined) return { problem: '\\ at end of pattern' };
    return hexStep(text, at) ?? { output: `\\${next}`, length: 2 };
  }
  const posix = /^\[:([a-z]+):\]/.exec(text.slice(at, at + 12));
  if (posix?.[1] === undefined) return { output: char, length: 1 };
  const members = POSIX_CLASSES[posix[1]];
  return members === undefined ? { problem: 'unknown POSIX class name' } : { output: members, length: posix[0].length };
}

function refused(problem: string): RegexTranslation {
  return { ok: false, problem };
}
