import { RadixTrie } from './radix-trie.ts';

/** Values by host name pattern: a plain name, `*.example.com` or `example.*`. */
export class NameIndex<V> {
  private readonly plain = new Map<string, V>();
  private readonly suffixes = new RadixTrie<V>();
  private readonly prefixes = new RadixTrie<V>();
  /** Whether the two tries hold anything: most indexes have no wildcards. */
  private wildcards = 0;

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
    if (pattern.startsWith('*')) this.suffixes.set(reversedSuffix(pattern), value);
    else if (pattern.endsWith('*')) this.prefixes.set(pattern.slice(0, -1), value);
    else {
      this.plain.set(pattern, value);
      return;
    }
    this.wildcards++;
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
