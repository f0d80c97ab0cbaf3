/** A phrase that no text may contain, and what to write. */
interface Phrase {
  readonly pattern: RegExp;
  readonly write: string;
}

/** Phrases that an engineer would not search for. The glossary in AGENTS.md has the words to use. */
const phrases: readonly Phrase[] = [
  { pattern: /\banew\b/i, write: 'again' },
  { pattern: /\bbeside\b/i, write: 'next to, in addition to, compared with' },
  { pattern: /\b(?:is|are|was|were|be|been|being) told\b/i, write: 'is notified, is reported, receives' },
  { pattern: /\bto be had\b/i, write: 'available, unavailable' },
  { pattern: /\bthere (?:is|are) none of\b/i, write: 'no ..., there is no ...' },
  { pattern: /\bin (?:the|its) place of\b/i, write: 'instead of' },
  { pattern: /\b(?:is|are|was|were|goes|went) away\b/i, write: 'is unavailable, disconnected, closed' },
  { pattern: /\bof which\b/i, write: 'whose, that, a sentence of its own' },
  { pattern: /\b(?:is|are) to be\b/i, write: 'must be, has to be' },
  { pattern: /\bwhat became of\b/i, write: 'the outcome of, what happened to' },
  { pattern: /\bidle (?:the )?longest\b/i, write: 'least recently used' },
  { pattern: /\bwhoever\b/i, write: 'the client, the caller' },
  { pattern: /\bheed(?:s|ed|ing)?\b/i, write: 'apply, honour' },
  { pattern: /\bnow and then\b/i, write: 'at intervals, throttled' },
  { pattern: /\bmade a mistake\b/i, write: 'uncaught exception' },
  { pattern: /\blook-ups?\b/i, write: 'lookup' },
  { pattern: /\bwhom\b/i, write: 'the client that ...' },
];

/** The banned phrases of a text, one line each: `<file>:<line>: ...`. */
export function bannedPhrases(file: string, text: string): readonly string[] {
  return text.split('\n').flatMap((line, at) =>
    phrases
      .map(({ pattern, write }) => ({ found: pattern.exec(line)?.[0], write }))
      .filter(({ found }) => found !== undefined)
      .map(({ found, write }) => `${file}:${at + 1}: "${found}"; write: ${write}`),
  );
}

/** Longest subject of a commit, in characters. */
export const maxSubjectLength = 72;

/** What is wrong with the subject of a commit; null: nothing. */
export function subjectProblem(subject: string): string | null {
  if (subject.length > maxSubjectLength) return `longer than ${maxSubjectLength} characters (${subject.length})`;
  return /^[a-z]+(?:\([a-z0-9-]+\))?!?: \S/.test(subject) ? null : 'not of the form "type(scope): subject"';
}
