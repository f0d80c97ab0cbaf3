/** One address of a name; port and weight are those of SRV records. */
export interface NameAddress {
  readonly ip: string;
  readonly port: number | null;
  readonly weight: number | null;
  readonly name: string;
}

/** What the control plane tells of a name. */
export interface NameAnswer {
  readonly addresses: readonly NameAddress[];
  /** Why there are none; null: there are some. */
  readonly error: string | null;
}

/** Names whose addresses have changed; null: the name is no longer watched. */
export type NameChanges = Readonly<Record<string, readonly NameAddress[] | null>>;

/** Whether the name has an address now, and why not. */
export type ResolveDone = (found: boolean, reason: string) => void;

/** Whose turn it is among weights, by their index (balancer/weighted-sequence.ts). */
interface Turns {
  /** Of one round. */
  readonly size: number;
  at(turn: number): number;
}

interface Entry {
  addresses: readonly NameAddress[];
  turns: Turns;
  next: number;
}

/**
 * Addresses of the services' host names in one worker. The control plane asks for a name when a worker first needs it, and
 * goes on to tell what changes, so that a known name costs a look into a map.
 */
export class WorkerNames {
  readonly #names = new Map<string, Entry>();
  readonly #waiting = new Map<string, ResolveDone[]>();
  readonly #ask: (name: string) => Promise<NameAnswer>;
  readonly #turnsOf: (weights: readonly number[]) => Turns;

  constructor(ask: (name: string) => Promise<NameAnswer>, turnsOf: (weights: readonly number[]) => Turns) {
    this.#ask = ask;
    this.#turnsOf = turnsOf;
  }

  /** The next address of the name, in turn; null when it must be asked for (`resolve`) first. */
  next(name: string): NameAddress | null {
    const entry = this.#names.get(name);
    if (entry === undefined) return null;
    const { turns } = entry;
    entry.next = entry.next + 1 < turns.size ? entry.next + 1 : 0;
    return entry.addresses[turns.at(entry.next)] ?? null;
  }

  resolve(name: string, done: ResolveDone): void {
    const waiting = this.#waiting.get(name);
    if (waiting !== undefined) {
      waiting.push(done);
      return;
    }
    this.#waiting.set(name, [done]);
    this.#ask(name).then(
      ({ addresses, error }) => this.#answered(name, addresses, error ?? 'no address'),
      () => this.#answered(name, [], 'the resolver did not answer'),
    );
  }

  changed(changes: NameChanges): void {
    for (const [name, addresses] of Object.entries(changes)) {
      if (addresses === null || addresses.length === 0) this.#names.delete(name);
      else if (this.#names.has(name)) this.#learn(name, addresses);
    }
  }

  #answered(name: string, addresses: readonly NameAddress[], reason: string): void {
    if (addresses.length > 0) this.#learn(name, addresses);
    const waiting = this.#waiting.get(name) ?? [];
    this.#waiting.delete(name);
    for (const done of waiting) done(addresses.length > 0, reason);
  }

  #learn(name: string, addresses: readonly NameAddress[]): void {
    const turns = this.#turnsOf(addresses.map(({ weight }) => Math.max(1, weight ?? 1)));
    // Workers begin at different places: otherwise the first address gets the first request of each.
    this.#names.set(name, { addresses, turns, next: Math.floor(Math.random() * turns.size) });
  }
}
