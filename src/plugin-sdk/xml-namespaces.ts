import { xmlNamespace, xmlnsNamespace } from './xml-tree.ts';

/** Prefixes that a declaration has given another meaning, with the one that they had before. */
type Changes = [prefix: string, before: string | undefined][];

/**
 * The namespaces that hold at a place of a document, while it is walked: `open` and `close` at the begin and the end of each element, its
 * declarations in between. Looking one up takes the same time at any depth.
 */
export class XmlNamespaces {
  readonly #uris = new Map<string, string>([
    ['', ''],
    ['xml', xmlNamespace],
  ]);
  /** For each open element; null: it declares nothing. */
  readonly #changes: (Changes | null)[] = [];

  open(): void {
    this.#changes.push(null);
  }

  close(): void {
    const changes = this.#changes.pop() ?? null;
    if (changes === null) return;
    for (const [prefix, before] of changes) {
      if (before === undefined) this.#uris.delete(prefix);
      else this.#uris.set(prefix, before);
    }
  }

  /** Declares a prefix ('' for the default) in the open element, once. Returns what is wrong with it (Namespaces in XML 1.0, 3), or null. */
  declare(prefix: string, uri: string): string | null {
    const reserved = prefix === 'xmlns' || uri === xmlnsNamespace || (prefix === 'xml') !== (uri === xmlNamespace);
    if (reserved || (uri === '' && prefix !== '')) return 'a declaration of a namespace is not allowed';
    const last = this.#changes.length - 1;
    const changes = this.#changes[last] ?? [];
    changes.push([prefix, this.#uris.get(prefix)]);
    this.#changes[last] = changes;
    this.#uris.set(prefix, uri);
    return null;
  }

  /** '' for no namespace; null: the prefix is not bound. */
  resolve(prefix: string): string | null {
    return this.#uris.get(prefix) ?? null;
  }
}
