import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { BodySyntaxError, positionIn, type TextPosition } from '../json/body-syntax-error.ts';
import { decodeXml } from './xml-encoding.ts';
import { XmlLimitError } from './xml-errors.ts';
import { isQName } from './xml-names.ts';
import { XmlNamespaces } from './xml-namespaces.ts';
import { type XmlAttribute, type XmlDocument, type XmlElement, type XmlNode, xmlnsNamespace } from './xml-tree.ts';

/** Limits of a document in addition to its size in bytes. */
export interface XmlLimits {
  /** Maximum depth of elements. Default 100. */
  readonly maxDepth: number;
  /** Attributes of one element, declarations of namespaces included. Default 256. */
  readonly maxAttributes: number;
  /** UTF-16 code units of a name. Default 512. */
  readonly maxNameLength: number;
  /** Elements, attributes, texts, comments and instructions together. Default 250,000. */
  readonly maxNodes: number;
}

export const defaultXmlLimits: XmlLimits = Object.freeze({
  maxDepth: 100,
  maxAttributes: 256,
  maxNameLength: 512,
  maxNodes: 250_000,
});

export interface ParseXmlOptions {
  /** The `Content-Type` that came with it, for its charset. Default: none. */
  readonly contentType?: string | null;
  /** Missing limits have their defaults. */
  readonly limits?: Partial<XmlLimits>;
  /** Keeps comments. Default: they are dropped. */
  readonly comments?: boolean;
}

/**
 * Reads a document of XML 1.0 with namespaces. Whatever is not well-formed is refused, and so is every `DOCTYPE`: there are no
 * entities except the five of XML, and nothing is ever fetched. Throws a `BodySyntaxError` that tells the place, an
 * `XmlLimitError` or an `XmlEncodingError`. A string is taken as decoded.
 */
export function parseXml(body: Uint8Array | string, options: ParseXmlOptions = {}): XmlDocument {
  const text = typeof body === 'string' ? body : decodeXml(body, options.contentType ?? null);
  return new DocumentReader(text, { ...defaultXmlLimits, ...options.limits }, options.comments === true).read();
}

/** Options of the parser. XML 1.1 allows characters that this one's readers do not expect. */
const parserOptions = Object.freeze({ xmlns: false, forceXMLVersion: true, defaultXMLVersion: '1.0' } as const);

/**
 * At most six handlers are set on a parser itself: with one more it becomes a slow object to the engine, and 100 KB take 10 ms
 * instead of 2.
 */
class DocumentReader extends SaxesParser<typeof parserOptions> {
  static {
    DocumentReader.prototype.on('doctype', function (this: DocumentReader) {
      const start = this.#text.lastIndexOf('<!DOCTYPE', this.position);
      throw new BodySyntaxError('XML', 'a document type declaration is not accepted', positionIn(this.#text, start));
    });
  }

  readonly #text: string;
  readonly #limits: XmlLimits;
  readonly #before: XmlNode[] = [];
  readonly #after: XmlNode[] = [];
  readonly #open: XmlElement[] = [];
  /** The parent of the next node. */
  #siblings: XmlNode[] = this.#before;
  #root: XmlElement | null = null;
  #nodes = 0;
  readonly #namespaces = new XmlNamespaces();

  constructor(text: string, limits: XmlLimits, comments: boolean) {
    super(parserOptions);
    this.#text = text;
    this.#limits = limits;
    this.on('opentag', (tag) => this.#openElement(tag));
    this.on('closetag', () => this.#closeElement());
    this.on('text', (found) => this.#addText(found, false));
    this.on('cdata', (found) => this.#addText(found, true));
    this.on('processinginstruction', ({ target, body }) => {
      this.#count();
      if (target.includes(':')) this.fail('a malformed name');
      this.#siblings.push({ kind: 'instruction', target, text: body });
    });
    if (comments) {
      this.on('comment', (found) => {
        this.#count();
        this.#siblings.push({ kind: 'comment', text: found });
      });
    }
  }

  read(): XmlDocument {
    this.#parse();
    const root = this.#root;
    if (root === null) throw new BodySyntaxError('XML', 'there is no root element', null);
    return { kind: 'document', before: this.#before, root, after: this.#after };
  }

  #parse(): void {
    try {
      this.write(this.#text).close();
    } catch (error) {
      // The parser accepts a reference without a number (`&#;`) as a character.
      if (error instanceof RangeError) this.fail('malformed character entity');
      throw error;
    }
  }

  /** The parser calls it for each error and would continue. */
  override fail(message: string): this {
    throw new BodySyntaxError('XML', withoutQuotes(message), this.#place());
  }

  #openElement({ name, attributes }: SaxesTagPlain): void {
    const { maxDepth } = this.#limits;
    if (this.#open.length === 0 && this.xmlDecl.version !== undefined && this.xmlDecl.version !== '1.0')
      this.fail('its version is not 1.0');
    if (this.#open.length >= maxDepth) throw this.#beyond(`is nested deeper than ${maxDepth} levels`);
    this.#count();
    this.#checkName(name);
    this.#namespaces.open();
    const list = this.#attributes(attributes);
    const colon = name.indexOf(':');
    const prefix = colon < 0 ? '' : name.slice(0, colon);
    const uri = this.#uriOf(prefix);
    const local = name.slice(colon + 1);
    const element: XmlElement = { kind: 'element', name, prefix, local, uri, attributes: list, children: [] };
    if (this.#open.length === 0) this.#root = element;
    else this.#siblings.push(element);
    this.#open.push(element);
    this.#siblings = element.children;
  }

  #attributes(attributes: SaxesTagPlain['attributes']): XmlAttribute[] {
    const { maxAttributes } = this.#limits;
    let count = 0;
    for (const name in attributes) {
      this.#count();
      this.#checkName(name);
      if (++count > maxAttributes) throw this.#beyond(`has more than ${maxAttributes} attributes in an element`);
      if (name.startsWith('xmlns')) this.#declare(name, attributes[name] as string);
    }
    const list: XmlAttribute[] = [];
    let prefixed = 0;
    for (const name in attributes) {
      const colon = name.indexOf(':');
      const prefix = colon < 0 ? '' : name.slice(0, colon);
      let uri = '';
      if (name === 'xmlns' || prefix === 'xmlns') uri = xmlnsNamespace;
      else if (prefix !== '') {
        uri = this.#uriOf(prefix);
        prefixed++;
      }
      list.push({ name, prefix, local: name.slice(colon + 1), uri, value: attributes[name] as string });
    }
    if (prefixed > 1) this.#refuseDuplicates(list);
    return list;
  }

  /** `xmlns` and `xmlns:prefix`; other names may start with `xmlns`, too. */
  #declare(name: string, value: string): void {
    const prefix = name === 'xmlns' ? '' : name.startsWith('xmlns:') ? name.slice(6) : null;
    if (prefix === null) return;
    const problem = this.#namespaces.declare(prefix, value.trim());
    if (problem !== null) this.fail(problem);
  }

  #uriOf(prefix: string): string {
    const uri = this.#namespaces.resolve(prefix);
    if (uri === null) this.fail('a prefix is not bound to a namespace');
    return uri ?? '';
  }

  /** Attributes with the same name and namespace, but different prefixes. */
  #refuseDuplicates(attributes: readonly XmlAttribute[]): void {
    const seen = new Set<string>();
    for (const { prefix, uri, local } of attributes) {
      if (prefix === '') continue;
      const key = `${uri} ${local}`;
      if (seen.has(key)) this.fail('an attribute occurs twice');
      seen.add(key);
    }
  }

  #closeElement(): void {
    this.#open.pop();
    this.#namespaces.close();
    this.#siblings = this.#open.at(-1)?.children ?? this.#after;
  }

  #addText(text: string, cdata: boolean): void {
    // Text around the root can only be white space.
    if (this.#open.length === 0) return;
    const last = this.#siblings.at(-1);
    if (last?.kind === 'text' && last.cdata === cdata) last.text += text;
    else {
      this.#count();
      this.#siblings.push({ kind: 'text', text, cdata });
    }
  }

  #count(): void {
    if (++this.#nodes > this.#limits.maxNodes) throw this.#beyond(`has more than ${this.#limits.maxNodes} nodes`);
  }

  #checkName(name: string): void {
    const { maxNameLength } = this.#limits;
    if (name.includes(':') && !isQName(name)) this.fail('a malformed name');
    if (name.length > maxNameLength) throw this.#beyond(`has a name of more than ${maxNameLength} characters`);
  }

  #beyond(what: string): XmlLimitError {
    return new XmlLimitError(what, this.#place());
  }

  #place(): TextPosition {
    return { line: this.line, column: Math.max(1, this.columnIndex) };
  }
}

/** Without the part of the document that the parser quotes after a colon. */
function withoutQuotes(message: string): string {
  return message.replace(/: .*$/s, '').replace(/\.$/, '');
}
