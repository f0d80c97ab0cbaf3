import { type XmlAttribute, xmlNamespace, xmlnsNamespace } from './xml-tree.ts';

/** The namespaces that hold within an element. */
export class XmlScope {
  static readonly outermost = new XmlScope(
    new Map([
      ['', ''],
      ['xml', xmlNamespace],
    ]),
    null,
  );

  readonly #own: ReadonlyMap<string, string>;
  readonly #outer: XmlScope | null;

  private constructor(own: ReadonlyMap<string, string>, outer: XmlScope | null) {
    this.#own = own;
    this.#outer = outer;
  }

  /** Within an element that has these attributes. Throws an `Error` for declarations that are not allowed (Namespaces in XML 1.0, 3). */
  with(attributes: readonly XmlAttribute[]): XmlScope {
    let own: Map<string, string> | null = null;
    for (const { name, prefix, local, value } of attributes) {
      if (prefix !== 'xmlns' && name !== 'xmlns') continue;
      const declared = prefix === 'xmlns' ? local : '';
      const uri = value.trim();
      const allowed = declared !== 'xmlns' && (declared === 'xml') === (uri === xmlNamespace) && uri !== xmlnsNamespace;
      if (!allowed || (uri === '' && declared !== '')) throw new Error('a declaration of a namespace is not allowed');
      own ??= new Map();
      own.set(declared, uri);
    }
    return own === null ? this : new XmlScope(own, this);
  }

  /** '' for no namespace; null: the prefix is not bound. */
  resolve(prefix: string): string | null {
    for (let scope: XmlScope | null = this; scope !== null; scope = scope.#outer) {
      const uri = scope.#own.get(prefix);
      if (uri !== undefined) return uri;
    }
    return null;
  }
}
