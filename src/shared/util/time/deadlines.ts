import { monotonic } from './clock.ts';
import { timeScopes } from './time-scopes.ts';

/**
 * Deadlines that cost a few pointer writes to set and to clear. All deadlines of one duration are in one list, in the
 * order in which they expire, and one timer watches the head of each list: a request sets several of them, and almost
 * none ever expires.
 */
export class Deadline {
  /** Called when the time is over. */
  readonly expired: () => void;
  /** @internal */ previous: Deadline | null = null;
  /** @internal */ next: Deadline | null = null;
  /** @internal */ list: DeadlineList | null = null;
  /** @internal */ at = 0;
  /** Most deadlines are set to the same duration repeatedly. */
  #last: DeadlineList | null = null;

  constructor(expired: () => void) {
    this.expired = expired;
  }

  get pending(): boolean {
    return this.list !== null;
  }

  /** Expires `milliseconds` from `now` (monotonic clock), replacing any earlier setting. 0 or less: never. */
  set(milliseconds: number, now: number): void {
    if (this.list !== null) this.list.remove(this);
    if (milliseconds <= 0) return;
    let list = this.#last;
    if (list === null || list.duration !== milliseconds) {
      list = listOf(milliseconds);
      this.#last = list;
    }
    this.at = now + milliseconds;
    list.append(this);
  }

  clear(): void {
    if (this.list !== null) this.list.remove(this);
  }
}

class DeadlineList {
  readonly duration: number;
  #head: Deadline | null = null;
  #tail: Deadline | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(duration: number) {
    this.duration = duration;
  }

  append(deadline: Deadline): void {
    deadline.list = this;
    deadline.previous = this.#tail;
    if (this.#tail === null) this.#head = deadline;
    else this.#tail.next = deadline;
    this.#tail = deadline;
    if (this.#timer === null) this.#arm(this.duration);
  }

  remove(deadline: Deadline): void {
    if (deadline.previous === null) this.#head = deadline.next;
    else deadline.previous.next = deadline.next;
    if (deadline.next === null) this.#tail = deadline.previous;
    else deadline.next.previous = deadline.previous;
    deadline.previous = null;
    deadline.next = null;
    deadline.list = null;
  }

  #arm(milliseconds: number): void {
    this.#timer = setTimeout(() => this.#sweep(), Math.max(1, Math.ceil(milliseconds)));
    this.#timer.unref();
  }

  #sweep(): void {
    this.#timer = null;
    const now = monotonic();
    try {
      while (this.#head !== null && this.#head.at <= now) {
        const due = this.#head;
        this.remove(due);
        due.expired();
      }
    } finally {
      if (this.#head !== null && this.#timer === null) this.#arm(this.#head.at - now);
    }
  }

  get empty(): boolean {
    return this.#head === null;
  }
}

const maxLists = 1_000;
type Lists = Map<number, DeadlineList>;

const ofThread: Lists = new Map();
const ofScope = new WeakMap<object, Lists>();

function listOf(milliseconds: number): DeadlineList {
  const lists = timeScopes === null ? ofThread : scopedLists(timeScopes.current());
  let list = lists.get(milliseconds);
  if (list === undefined) {
    // Durations of old configurations must not accumulate.
    if (lists.size >= maxLists) for (const [duration, old] of lists) if (old.empty) lists.delete(duration);
    list = new DeadlineList(milliseconds);
    lists.set(milliseconds, list);
  }
  return list;
}

function scopedLists(scope: object | null): Lists {
  if (scope === null) return ofThread;
  let lists = ofScope.get(scope);
  if (lists === undefined) {
    lists = new Map();
    ofScope.set(scope, lists);
  }
  return lists;
}
