import { backendReply, type HeaderBlock, type Reply } from '../../plugin-sdk/index.ts';
import { isNotModified, notModifiedLines, rangeHolds } from './conditions.ts';
import type { Kept } from './finder.ts';
import { keepLines, lineOf } from './header-lines.ts';
import type { CachePolicy } from './policy.ts';
import { bodyRange } from './ranges.ts';
import { ageOf, type StoredAnswer } from './stored-answer.ts';

export type CacheStatus = 'Miss' | 'Hit' | 'Refresh' | 'Bypass';

/** What a request asks for beside the whole: null for hardly any. */
export interface Wishes {
  readonly block: HeaderBlock;
  readonly method: string;
}

/** Lines made for hits within the same second. */
interface Lines {
  readonly age: number;
  readonly key: string;
  readonly text: HeaderBlock;
}

/** Makes answers to clients of what is kept. */
export class Server {
  readonly #policy: CachePolicy;
  readonly #lines = new WeakMap<StoredAnswer, Lines>();

  constructor(policy: CachePolicy) {
    this.#policy = policy;
  }

  /** An answer to a request without conditions, or to one whose conditions `wishes` tells. `now`: milliseconds since the epoch. */
  reply({ key, entry, answer }: Kept, status: CacheStatus, now: number, wishes: Wishes | null): Reply {
    const lines = status === 'Hit' ? this.#hitLines(answer, key, now) : this.lines(answer, key, status, now);
    if (wishes !== null && answer.status === 200) {
      const special = specialReply(entry.body, answer.block, lines, wishes, now);
      if (special !== null) return special;
    }
    return backendReply({ status: answer.status, headers: lines, body: entry.body, fresh: false });
  }

  lines(answer: StoredAnswer, key: string, status: CacheStatus, now: number): HeaderBlock {
    const age = Math.floor(Math.min(ageOf(answer, now), 2 ** 31));
    return answer.block + this.#ownLines(age, key, status);
  }

  #hitLines(answer: StoredAnswer, key: string, now: number): HeaderBlock {
    const age = Math.floor(Math.min(ageOf(answer, now), 2 ** 31));
    const known = this.#lines.get(answer);
    if (known !== undefined && known.age === age && known.key === key) return known.text;
    const text = answer.block + this.#ownLines(age, key, 'Hit');
    this.#lines.set(answer, { age, key, text });
    return text;
  }

  #ownLines(age: number, key: string, status: CacheStatus): string {
    let lines = this.#policy.showsAge ? `Age: ${age}\r\n` : '';
    if (this.#policy.showsStatus) lines += `X-Cache-Status: ${status}\r\n`;
    if (this.#policy.showsKey) lines += `X-Cache-Key: ${key}\r\n`;
    return lines;
  }
}

/** 304, 206 or 416, where the client's conditions lead there (RFC 9110 13.2.2); null: the whole. */
function specialReply(
  body: Uint8Array,
  block: HeaderBlock,
  lines: HeaderBlock,
  { block: request, method }: Wishes,
  now: number,
): Reply | null {
  if (method !== 'GET' && method !== 'HEAD') return null;
  if (isNotModified(request, block, now)) {
    return backendReply({ status: 304, headers: notModifiedLines(lines), fresh: false });
  }
  const range = method === 'GET' ? lineOf(request, 'range') : null;
  if (range === null || !rangeHolds(request, block, now)) return null;
  const part = bodyRange(range, body.byteLength);
  if (part === null) return null;
  if (part === 'unsatisfiable') {
    const about = keepLines(lines, (name) => !name.startsWith('content-'));
    const headers = `${about}Content-Range: bytes */${body.byteLength}\r\n`;
    return backendReply({ status: 416, headers, fresh: false });
  }
  const headers = `${lines}Content-Range: bytes ${part.first}-${part.last}/${body.byteLength}\r\n`;
  return backendReply({ status: 206, headers, body: body.subarray(part.first, part.last + 1), fresh: false });
}
