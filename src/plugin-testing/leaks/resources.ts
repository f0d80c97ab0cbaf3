import type { Leak } from './contract.ts';
import { placeInStack } from './places.ts';

type Kind = Exclude<Leak['kind'], 'heap'>;

/** What is open at one moment. */
interface Count {
  readonly kind: Kind;
  /** `SIGTERM`, `TCPSocketWrap`; '' for timers. */
  readonly name: string;
  readonly count: number;
}

/** A timer of the clock, with the stack of the code that set it. */
export interface TracedTimer {
  readonly stack: string | null;
}

/** Resources of the runner and of Node come and go by themselves. */
const fleeting = new Set(['Timeout', 'Immediate', 'TTYWrap', 'PipeWrap', 'CloseReq', 'FSReqCallback', 'FSReqPromise']);

/** Counts timers, listeners of the process and handles after each round. */
export class Resources {
  readonly #timers: () => readonly TracedTimer[];
  readonly #rounds: (readonly Count[])[] = [];
  readonly #added = new Map<string, string>();
  readonly #restore: () => void;

  constructor(timers: () => readonly TracedTimer[]) {
    this.#timers = timers;
    this.#restore = this.#watchListeners();
  }

  /** A round is over, and everything that it opened should be closed. */
  look(): void {
    const counts: Count[] = [{ kind: 'timers', name: '', count: this.#timers().length }];
    for (const event of process.eventNames()) {
      counts.push({ kind: 'listeners', name: String(event), count: process.listenerCount(event as string) });
    }
    const handles = process.getActiveResourcesInfo().filter((name) => !fleeting.has(name));
    for (const name of new Set(handles)) {
      counts.push({ kind: 'handles', name, count: handles.filter((other) => other === name).length });
    }
    this.#rounds.push(counts);
  }

  /** What has grown in each of the last rounds: its growth in one round. */
  growing(rounds: number): readonly (Count & { readonly place: string | null })[] {
    const last = this.#rounds.slice(-rounds - 1);
    return (last.at(-1) ?? []).flatMap(({ kind, name, count }) => {
      const numbers = last.map((counts) => counts.find((one) => one.kind === kind && one.name === name)?.count ?? 0);
      const grows = numbers.every((number, at) => at === 0 || number > (numbers[at - 1] as number));
      if (!grows || numbers.length < 2) return [];
      const growth = (count - (numbers[0] as number)) / (numbers.length - 1);
      return [{ kind, name, count: growth, place: this.#placeOf(kind, name) }];
    });
  }

  close(): void {
    this.#restore();
  }

  #placeOf(kind: Kind, name: string): string | null {
    if (kind === 'listeners') return this.#added.get(name) ?? null;
    if (kind !== 'timers') return null;
    const places = this.#timers().map(({ stack }) => (stack === null ? null : placeInStack(stack)));
    return places.findLast((place) => place !== null) ?? null;
  }

  /** Notes who adds listeners to the process. */
  #watchListeners(): () => void {
    const note = (event: string | symbol): void => {
      const place = placeInStack(new Error('added here').stack ?? '');
      if (place !== null) this.#added.set(String(event), place);
    };
    // `newListener` is emitted before each listener, with the stack of the code that adds it.
    process.on('newListener', note);
    return () => void process.off('newListener', note);
  }
}
