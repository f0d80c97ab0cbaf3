import {
  isNamespaceDeclaration,
  type PathState,
  parseXml,
  pathStates,
  type XmlElement,
  type XmlNode,
  type XmlText,
  xmlText,
} from '../../plugin-sdk/xml.ts';
import type { Rule } from './rules.ts';

/** Masks XML bodies. Comments are dropped, texts that stand next to each other become one, the encoding becomes UTF-8. */
export class XmlMasker {
  readonly #rules: readonly Rule[];
  readonly #searching: readonly Rule[];
  readonly #paths: PathState | null;

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
    this.#searching = rules.filter(({ inBodies }) => inBodies);
    const flagged = rules.flatMap(({ config }, at) =>
      (config.xml_paths ?? []).map((path) => [withoutPrefixes(path), 1 << at] as const),
    );
    this.#paths = pathStates(flagged);
  }

  body(bytes: Uint8Array, contentType: string): Uint8Array {
    const document = parseXml(bytes, { contentType });
    for (const node of [...document.before, ...document.after]) this.#node(node, null);
    this.#element(document.root, this.#paths);
    return Buffer.from(xmlText(document));
  }

  #element(element: XmlElement, above: PathState | null): void {
    const state = above?.next(element.local) ?? null;
    for (const attribute of element.attributes) {
      if (isNamespaceDeclaration(attribute)) continue;
      const at = state?.next(`@${attribute.local}`) ?? null;
      attribute.value = this.#text(attribute.value, this.#rulesAt(at));
    }
    const rules = this.#rulesAt(state);
    const taking = rules.findIndex(({ search }) => search === null);
    if (taking >= 0) {
      this.#take(element, rules.slice(0, taking + 1));
      return;
    }
    element.children = joined(element.children);
    for (const child of element.children) this.#node(child, state);
    for (const rule of rules) searchElement(element, rule);
  }

  #node(node: XmlNode, state: PathState | null): void {
    if (node.kind === 'element') this.#element(node, state);
    else node.text = this.#text(node.text, []);
  }

  /** The element has a text in the place of all that is in it. */
  #take(element: XmlElement, rules: readonly Rule[]): void {
    const rule = rules.at(-1) as Rule;
    if (element.children.length === 0) return;
    const plain = element.children.every((child) => child.kind === 'text');
    const text = plain ? (joined(element.children)[0] as XmlText).text : element.children.map(nodeText).join('');
    const masked = plain ? rules.reduce((value, one) => one.maskText(value), text) : rule.maskOther(text);
    element.children = masked === '' ? [] : [{ kind: 'text', text: masked, cdata: false }];
  }

  #text(text: string, rules: readonly Rule[]): string {
    let masked = text;
    for (const rule of rules) {
      masked = rule.maskText(masked);
      if (rule.search === null) return masked;
    }
    for (const rule of this.#searching) masked = rule.maskText(masked);
    return masked;
  }

  #rulesAt(state: PathState | null): readonly Rule[] {
    if (state === null || state.flags === 0) return none;
    return this.#rules.filter((_, at) => (state.flags & (1 << at)) !== 0);
  }
}

const none: readonly Rule[] = [];

/** Prefixes are the sender's choice: names are compared without them. */
function withoutPrefixes(path: string): string {
  return path.replace(/[^/@:\s]+:/g, '');
}

/** A value that is cut by a CDATA section is still one value. */
function joined(children: readonly XmlNode[]): XmlNode[] {
  const result: XmlNode[] = [];
  for (const child of children) {
    const last = result.at(-1);
    if (child.kind === 'text' && last?.kind === 'text')
      result[result.length - 1] = { kind: 'text', text: last.text + child.text, cdata: false };
    else result.push(child);
  }
  return result;
}

function searchElement(element: XmlElement, rule: Rule): void {
  for (const attribute of element.attributes) {
    if (!isNamespaceDeclaration(attribute)) attribute.value = rule.maskText(attribute.value);
  }
  for (const child of element.children) {
    if (child.kind === 'element') searchElement(child, rule);
    else child.text = rule.maskText(child.text);
  }
}

function nodeText(node: XmlNode): string {
  return node.kind === 'element' ? xmlText(node, { declaration: false }) : node.text;
}
