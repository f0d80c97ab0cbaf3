/** A parsed document: order, prefixes and texts are those of the source. References are resolved. */
export interface XmlDocument {
  readonly kind: 'document';
  /** Comments (when they are kept) and processing instructions before the root. */
  readonly before: readonly XmlNode[];
  readonly root: XmlElement;
  readonly after: readonly XmlNode[];
}

export interface XmlElement {
  readonly kind: 'element';
  /** As written: `soap:Body`. */
  readonly name: string;
  /** '' without one. */
  readonly prefix: string;
  readonly local: string;
  /** Namespace; '' for none. */
  readonly uri: string;
  /** In document order, declarations of namespaces included. */
  attributes: XmlAttribute[];
  children: XmlNode[];
}

export interface XmlAttribute {
  readonly name: string;
  readonly prefix: string;
  readonly local: string;
  /** '' without a prefix. */
  readonly uri: string;
  value: string;
}

export interface XmlText {
  readonly kind: 'text';
  text: string;
  /** From a CDATA section, and written as one. */
  readonly cdata: boolean;
}

export interface XmlComment {
  readonly kind: 'comment';
  text: string;
}

export interface XmlInstruction {
  readonly kind: 'instruction';
  readonly target: string;
  text: string;
}

export type XmlNode = XmlElement | XmlText | XmlComment | XmlInstruction;

export const xmlNamespace = 'http://www.w3.org/XML/1998/namespace';
export const xmlnsNamespace = 'http://www.w3.org/2000/xmlns/';
export const schemaInstanceNamespace = 'http://www.w3.org/2001/XMLSchema-instance';

/** The text of an element, without that of its descendants. */
export function ownText(element: XmlElement): string {
  let text = '';
  for (const child of element.children) if (child.kind === 'text') text += child.text;
  return text;
}

/** The value of an attribute of this namespace ('' for none) and local name, or null. */
export function attributeOf(element: XmlElement, uri: string, local: string): string | null {
  return element.attributes.find((one) => one.local === local && one.uri === uri)?.value ?? null;
}

/** The child elements. */
export function childElements(element: XmlElement): XmlElement[] {
  return element.children.filter((child) => child.kind === 'element');
}

/** `xmlns` and `xmlns:prefix`. */
export function isNamespaceDeclaration(attribute: XmlAttribute): boolean {
  return attribute.uri === xmlnsNamespace;
}
