import { XmlMappingError } from './xml-errors.ts';
import { hasOnlyXmlCharacters, isQName } from './xml-names.ts';
import type { XmlDocument, XmlElement, XmlNode } from './xml-tree.ts';

export interface XmlTextOptions {
  /** `<?xml version="1.0" encoding="UTF-8"?>` in front. Default true. */
  readonly declaration?: boolean;
}

/**
 * The text of a document or an element, to be sent as UTF-8. Nothing is indented or omitted. Throws an `XmlMappingError` for invalid
 * names, and for characters that XML does not allow: the output can always be parsed again.
 */
export function xmlText(tree: XmlDocument | XmlElement, { declaration = true }: XmlTextOptions = {}): string {
  const head = declaration ? '<?xml version="1.0" encoding="UTF-8"?>' : '';
  const writer = new Writer();
  if (tree.kind === 'element') return head + writer.element(tree);
  let text = head;
  for (const node of tree.before) text += writer.node(node);
  text += writer.element(tree.root);
  for (const node of tree.after) text += writer.node(node);
  return text;
}

class Writer {
  /** Names repeat, so each one is checked once. */
  readonly #names = new Set<string>();

  element(element: XmlElement): string {
    const name = this.#name(element.name);
    let text = `<${name}`;
    for (const attribute of element.attributes) {
      text += ` ${this.#name(attribute.name)}="${attributeText(attribute.value)}"`;
    }
    if (element.children.length === 0) return `${text}/>`;
    text += '>';
    for (const child of element.children) text += this.node(child);
    return `${text}</${name}>`;
  }

  node(node: XmlNode): string {
    switch (node.kind) {
      case 'element':
        return this.element(node);
      case 'text':
        return node.cdata ? cdataText(node.text) : plainText(node.text);
      case 'comment':
        return commentText(node.text);
      case 'instruction':
        return this.#instruction(node.target, node.text);
    }
  }

  #instruction(target: string, body: string): string {
    checkCharacters(body);
    const name = this.#name(target);
    if (body.includes('?>') || /^xml$/i.test(name)) throw new XmlMappingError('an instruction that XML cannot carry');
    return body === '' ? `<?${name}?>` : `<?${name} ${body}?>`;
  }

  #name(name: string): string {
    if (this.#names.has(name)) return name;
    if (!isQName(name)) throw new XmlMappingError('a name that is none in XML');
    this.#names.add(name);
    return name;
  }
}

function checkCharacters(text: string): void {
  if (!hasOnlyXmlCharacters(text)) throw new XmlMappingError('a character that XML cannot carry');
}

const inText = /[&<>\r]/;
const inAttribute = /[&<>"\t\n\r]/;
const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

function plainText(text: string): string {
  checkCharacters(text);
  return inText.test(text) ? text.replace(/[&<>\r]/g, (char) => escapes[char] as string) : text;
}

function attributeText(text: string): string {
  checkCharacters(text);
  return inAttribute.test(text) ? text.replace(/[&<>"\t\n\r]/g, (char) => escapes[char] as string) : text;
}

/** A carriage return would be read as a line feed, so it is written between two sections. */
function cdataText(text: string): string {
  checkCharacters(text);
  const inner = text.replaceAll(']]>', ']]]]><![CDATA[>').replaceAll('\r', ']]>&#13;<![CDATA[');
  return `<![CDATA[${inner}]]>`;
}

function commentText(text: string): string {
  checkCharacters(text);
  if (text.includes('--') || text.endsWith('-')) throw new XmlMappingError('a comment that XML cannot carry');
  return `<!--${text}-->`;
}
