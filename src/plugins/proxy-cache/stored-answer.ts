import type { HeaderBlock } from '../../plugin-sdk/index.ts';

/** What was found out about an answer when it came. Times of life in seconds. */
export interface AnswerTerms {
  /** Explicitly public: all consumers may have it. */
  readonly isPublic: boolean;
  /** `no-cache`: to be validated before each use. */
  readonly alwaysValidate: boolean;
  /** Never to be used stale. */
  readonly neverStale: boolean;
  readonly freshFor: number;
  /** Its age when it came. */
  readonly age: number;
  readonly staleWhileRevalidate: number;
  readonly staleIfError: number;
}

/** An answer as it is kept: the text that `encodeAnswer` makes. */
export interface StoredAnswer extends AnswerTerms {
  readonly kind: 'answer';
  readonly status: number;
  /** Milliseconds since the epoch. */
  readonly storedAt: number;
  /** Whose it is: route, service and all else that is not in the key. */
  readonly owner: string;
  /** As a client gets it, without `Age` and what the cache adds. */
  readonly block: HeaderBlock;
}

/** Stands where answers differ by consumer, route or what `Vary` names: says how to find them. */
export interface AnswerIndex {
  readonly kind: 'index';
  /** Goes into the keys of the answers: a new one makes the old ones unreachable. */
  readonly generation: string;
  /** Some answers are for all consumers. */
  readonly hasPublic: boolean;
  /** Names of request headers, in lower case, sorted. */
  readonly names: readonly string[];
}

/* A format that older versions have not written is not read. */
const answerMark = 'A1';
const indexMark = 'I1';

export function encodeAnswer(answer: Omit<StoredAnswer, 'kind'>): string {
  const flags = `${answer.isPublic ? 'p' : '-'}${answer.alwaysValidate ? 'v' : '-'}${answer.neverStale ? 'n' : '-'}`;
  const { status, storedAt, freshFor, age, staleWhileRevalidate, staleIfError, owner, block } = answer;
  const times = `${storedAt} ${freshFor} ${age} ${staleWhileRevalidate} ${staleIfError}`;
  return `${answerMark} ${status} ${times} ${flags}\n${owner}\n${block}`;
}

export function encodeIndex({ generation, hasPublic, names }: Omit<AnswerIndex, 'kind'>): string {
  return `${indexMark} ${generation} ${hasPublic ? 'p' : '-'} ${names.join(',')}`;
}

/** Null for what was not made here. */
export function decode(head: string): StoredAnswer | AnswerIndex | null {
  if (head.startsWith(answerMark)) return decodeAnswer(head);
  return head.startsWith(indexMark) ? decodeIndex(head) : null;
}

function decodeAnswer(head: string): StoredAnswer | null {
  const first = head.indexOf('\n');
  const second = head.indexOf('\n', first + 1);
  const parts = head.slice(0, first).split(' ');
  const flags = parts[7];
  if (first < 0 || second < 0 || flags === undefined) return null;
  return {
    kind: 'answer',
    status: Number(parts[1]),
    storedAt: Number(parts[2]),
    freshFor: Number(parts[3]),
    age: Number(parts[4]),
    staleWhileRevalidate: Number(parts[5]),
    staleIfError: Number(parts[6]),
    isPublic: flags.includes('p'),
    alwaysValidate: flags.includes('v'),
    neverStale: flags.includes('n'),
    owner: head.slice(first + 1, second),
    block: head.slice(second + 1),
  };
}

function decodeIndex(head: string): AnswerIndex {
  const [, generation = '', flag = '', names = ''] = head.split(' ');
  return { kind: 'index', generation, hasPublic: flag === 'p', names: names === '' ? [] : names.split(',') };
}

/** Age of an answer, in seconds. One from the future has none that could be told: the clock was set back. */
export function ageOf(answer: StoredAnswer, now: number): number {
  const kept = (now - answer.storedAt) / 1000;
  return kept < -1 ? Number.POSITIVE_INFINITY : answer.age + Math.max(0, kept);
}
