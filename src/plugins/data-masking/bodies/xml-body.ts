import type { PathState, XmlElement, XmlNode, XmlText } from '../../../plugin-kit/xml/index.ts';
import { isNamespaceDeclaration, parseXml, pathStates, xmlText } from '../../../plugin-kit/xml/index.ts';
import type { Rule } from '../rules/rules.ts';

/** Masks XML bodies. Removes comments, joins adjacent texts, and encodes in UTF-8. */
export class XmlMasker {
  readonly #rules: readonly Rule[];
  /** Bits of the rules that search the whole body. */
  readonly #everywhere: number;
  readonly #paths: PathState | null;

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
    this.#everywhere = rules.reduce((bits, { inBodies }, at) => (inBodies ? bits | (1 << at) : bits), 0);
    const flagged = rules.flatMap(({ config }, at) =>
      (config.xml_paths ?? []).map((path) => [withoutPrefixes(path), 1 << at] as const),
    );
    this.#paths = pathStates(flagged);
  }

  body(bytes: Uint8Array, contentType: string): Uint8Array {
    const document = parseXml(bytes, { contentType });
    for (const node of [...document.before, ...document.after]) this.#node(node, null, this.#everywhere);
    this.#element(document.root, this.#paths, this.#everywhere);
    return Buffer.from(xmlText(document));
  }

  /** `above`: the state of the parent element. `active`: bits of the rules that search everything here. */
  #element(element: XmlElement, above: PathState | null, active: number): void {
    const state = above?.next(element.local) ?? null;
    const flags = state?.flags ?? 0;
    const bits = this.#searching(active | flags);
    for (const attribute of element.attributes) {
      if (isNamespaceDeclaration(attribute)) continue;
      const own = state?.next(`@${attribute.local}`).flags ?? 0;
      attribute.value = this.#text(attribute.value, bits | own);
    }
    const replacing = this.#rules.findIndex(({ search }, at) => search === null && (flags & (1 << at)) !== 0);
    if (replacing >= 0) {
      this.#take(element, this.#rules[replacing] as Rule, bits | (1 << replacing));
      return;
    }
    element.children = joined(element.children);
    for (const child of element.children) this.#node(child, state, bits);
  }

  #node(node: XmlNode, state: PathState | null, bits: number): void {
    if (node.kind === 'element') this.#element(node, state, bits);
    else node.text = this.#text(node.text, bits);
  }

  /** Replaces the content of the element with a text. */
  #take(element: XmlElement, rule: Rule, bits: number): void {
    if (element.children.length === 0) return;
    const plain = element.children.every((child) => child.kind === 'text');
    const text = plain ? (joined(element.children)[0] as XmlText).text : element.children.map(nodeText).join('');
    const masked = plain ? this.#text(text, bits) : rule.maskOther(text);
    element.children = masked === '' ? [] : [{ kind: 'text', text: masked, cdata: false }];
  }

  /** Applies the rules of these bits in order, up to the first that replaces the whole value. */
  #text(text: string, bits: number): string {
    let masked = text;
    for (let at = 0; bits >> at !== 0; at++) {
      if ((bits & (1 << at)) === 0) continue;
      const rule = this.#rules[at] as Rule;
      masked = rule.maskText(masked);
      if (rule.search === null) return masked;
    }
    return masked;
  }

  #searching(bits: number): number {
    return this.#rules.reduce((kept, { search }, at) => (search === null ? kept & ~(1 << at) : kept), bits);
  }
}

/** The sender chooses the prefixes: names are compared without them. */
function withoutPrefixes(path: string): string {
  return path.replace(/[^/@:\s]+:/g, '');
}

/** A value that is split by CDATA sections is one value. */
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

function nodeText(node: XmlNode): string {
  return node.kind === 'element' ? xmlText(node, { declaration: false }) : node.text;
}
