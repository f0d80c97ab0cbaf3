import { xmlNamespace, xmlnsNamespace } from './xml-tree.ts';

/** Prefixes that a declaration has changed, with their previous namespaces. */
type Changes = [prefix: string, before: string | undefined][];

/**
 * The namespaces in scope during a walk of a document: call `open` and `close` at the start and end of each element, and `declare`
 * in between. A lookup takes the same time at any depth.
 */
export class XmlNamespaces {
  readonly #uris = new Map<string, string>([
    ['', ''],
    ['xml', xmlNamespace],
  ]);
  /** One entry for each open element; null: no declarations. */
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

  /** Declares a prefix ('' for the default) in the open element, once. Returns the problem of the declaration (Namespaces in XML 1.0, 3), or null. */
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
