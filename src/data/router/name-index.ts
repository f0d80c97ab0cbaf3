import { copyMap } from '../../shared/util/copy-in-steps.ts';
import { RadixTrie } from './radix-trie.ts';

/** Values by host name pattern: a plain name, `*.example.com` or `example.*`. */
export class NameIndex<V> {
  private readonly plain = new Map<string, V>();
  private suffixes: RadixTrie<V>;
  private prefixes: RadixTrie<V>;
  /** Whether the two tries hold anything: most indexes have no wildcards. */
  private wildcards = 0;

  constructor(edition = 0) {
    this.suffixes = new RadixTrie(edition);
    this.prefixes = new RadixTrie(edition);
  }

  /** Gives an empty index the values of another, in steps. The values themselves are shared, so the other must not be changed. */
  *copyFrom(other: NameIndex<V>, edition: number): Generator<void> {
    this.suffixes = other.suffixes.fork(edition);
    this.prefixes = other.prefixes.fork(edition);
    this.wildcards = other.wildcards;
    yield* copyMap(other.plain, this.plain);
  }

  /** An index that shares nothing with this one. */
  copy(edition: number, copyValue: (value: V) => V): NameIndex<V> {
    const copy = new NameIndex<V>();
    for (const [name, value] of this.plain) copy.plain.set(name, copyValue(value));
    copy.suffixes = this.suffixes.copy(edition, copyValue);
    copy.prefixes = this.prefixes.copy(edition, copyValue);
    copy.wildcards = this.wildcards;
    return copy;
  }

  get isEmpty(): boolean {
    return this.wildcards === 0 && this.plain.size === 0;
  }

  get(pattern: string): V | null {
    if (pattern.startsWith('*')) return this.suffixes.get(reversedSuffix(pattern));
    if (pattern.endsWith('*')) return this.prefixes.get(pattern.slice(0, -1));
    return this.plain.get(pattern) ?? null;
  }

  /** Adds a pattern that is not in the index. */
  add(pattern: string, value: V): void {
    this.replace(pattern, value);
    if (pattern.startsWith('*') || pattern.endsWith('*')) this.wildcards++;
  }

  /** Sets another value of a pattern that is in the index. */
  replace(pattern: string, value: V): void {
    if (pattern.startsWith('*')) this.suffixes.set(reversedSuffix(pattern), value);
    else if (pattern.endsWith('*')) this.prefixes.set(pattern.slice(0, -1), value);
    else this.plain.set(pattern, value);
  }

  /** Removes a pattern that is in the index. */
  delete(pattern: string): void {
    if (pattern.startsWith('*')) this.suffixes.delete(reversedSuffix(pattern));
    else if (pattern.endsWith('*')) this.prefixes.delete(pattern.slice(0, -1));
    else {
      this.plain.delete(pattern);
      return;
    }
    this.wildcards--;
  }

  /** Writes the values of all patterns that match the name to `out` and returns their number. */
  collect(name: string, out: V[]): number {
    let count = this.wildcards === 0 ? 0 : this.suffixes.collectSuffixes(name, out, this.prefixes.collect(name, out));
    const exact = this.plain.get(name);
    if (exact !== undefined) out[count++] = exact;
    return count;
  }
}

function reversedSuffix(pattern: string): string {
  let reversed = '';
  for (let i = pattern.length - 1; i > 0; i--) reversed += pattern.charAt(i);
  return reversed;
}
