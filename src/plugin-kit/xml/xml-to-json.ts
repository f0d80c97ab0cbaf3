import { type JsonArray, type JsonObject, type JsonScalar, type JsonValue, setMember } from '../json/json.ts';
import { type CompiledXmlMapping, compiledMapping, hint, type XmlMapping } from './xml-mapping.ts';
import { parseXml } from './xml-parse.ts';
import type { PathState } from './xml-paths.ts';
import { xmlScalar } from './xml-scalars.ts';
import {
  attributeOf,
  isNamespaceDeclaration,
  schemaInstanceNamespace,
  type XmlAttribute,
  type XmlDocument,
  type XmlElement,
  type XmlNode,
  xmlNamespace,
} from './xml-tree.ts';

export interface XmlToJsonOptions {
  /** The `Content-Type` that came with bytes, for its charset. Default: none. */
  readonly contentType?: string | null;
}

/**
 * A document as JSON. Bytes are parsed with the mapping's limits first; errors of `parseXml` are thrown. Comments and processing
 * instructions have no form in JSON and are dropped.
 */
export function xmlToJson(
  source: Uint8Array | string | XmlDocument | XmlElement,
  mapping: XmlMapping | CompiledXmlMapping = {},
  { contentType = null }: XmlToJsonOptions = {},
): JsonValue {
  const compiled = compiledMapping(mapping);
  const tree =
    typeof source === 'string' || source instanceof Uint8Array
      ? parseXml(source, { contentType, limits: compiled.limits })
      : source;
  return new JsonMaker(compiled).document(tree.kind === 'document' ? tree.root : tree);
}

/** Several sibling elements as the members of one object, under the rules for child elements. */
export function elementsToJson(elements: readonly XmlElement[], mapping: XmlMapping | CompiledXmlMapping): JsonObject {
  const compiled = compiledMapping(mapping);
  return new JsonMaker(compiled).members(elements, compiled.hints);
}

class JsonMaker {
  readonly #mapping: CompiledXmlMapping;

  constructor(mapping: CompiledXmlMapping) {
    this.#mapping = mapping;
  }

  document(root: XmlElement): JsonValue {
    const name = this.#elementName(root);
    const hints = this.#mapping.hints?.next(name) ?? null;
    const value = this.#value(root, hints, false);
    if (!this.#mapping.keepRoot) return value;
    const document: JsonObject = {};
    setMember(document, name, value);
    return document;
  }

  members(elements: readonly XmlElement[], hints: PathState | null): JsonObject {
    const object: JsonObject = {};
    for (const element of elements) this.#addElement(object, element, hints, false);
    return object;
  }

  #value(element: XmlElement, hints: PathState | null, outer: boolean): JsonValue {
    const mapping = this.#mapping;
    if (element.attributes.length === 0 && element.children.length === 0 && !isOrdered(hints)) return this.#empty();
    const preserve = element.attributes.length === 0 ? outer : preservesSpace(element, outer);
    const object = this.#attributes(element, hints);
    const { elements, significant } = contentOf(element, preserve);
    if (isOrdered(hints) || (elements && significant && mapping.mixed === 'ordered')) {
      const content = this.#ordered(element.children, hints, preserve, significant);
      return Object.assign(object ?? {}, { [mapping.contentName]: content });
    }
    if (!elements) return this.#leaf(element, object, hints);
    const result = object ?? {};
    if (significant) result[mapping.textName] = textOf(element.children);
    for (const child of element.children) {
      if (child.kind === 'element') this.#addElement(result, child, hints, preserve);
    }
    return result;
  }

  #leaf(element: XmlElement, object: JsonObject | null, hints: PathState | null): JsonValue {
    const text = textOf(element.children);
    if (object === null) {
      if (text !== '') return this.#scalar(text, hints);
      return this.#isNil(element) ? null : this.#empty();
    }
    if (text !== '') object[this.#mapping.textName] = this.#scalar(text, hints);
    return object;
  }

  #addElement(object: JsonObject, element: XmlElement, hints: PathState | null, preserve: boolean): void {
    const name = this.#elementName(element);
    const below = hints?.next(name) ?? null;
    const value = this.#value(element, below, preserve);
    if (!Object.hasOwn(object, name)) {
      const single = below === null || (below.flags & hint.array) === 0;
      setMember(object, name, single ? value : [value]);
      return;
    }
    // No element is an array by itself, so an array contains elements of this name.
    const there = object[name] as JsonValue;
    if (Array.isArray(there)) there.push(value);
    else setMember(object, name, [there, value]);
  }

  #ordered(children: readonly XmlNode[], hints: PathState | null, preserve: boolean, significant: boolean): JsonArray {
    const content: JsonArray = [];
    let text = '';
    for (const child of children) {
      if (child.kind === 'text') text += child.text;
      else if (child.kind === 'element') {
        if (text !== '' && significant) content.push(text);
        text = '';
        const name = this.#elementName(child);
        const single: JsonObject = {};
        setMember(single, name, this.#value(child, hints?.next(name) ?? null, preserve));
        content.push(single);
      }
    }
    if (text !== '' && significant) content.push(text);
    return content;
  }

  /** Null: no attributes that JSON shows. */
  #attributes(element: XmlElement, hints: PathState | null): JsonObject | null {
    if (element.attributes.length === 0) return null;
    const { attributePrefix, attributeMember, stripNamespaces } = this.#mapping;
    const nil = this.#isNil(element);
    let object: JsonObject | null = null;
    for (const attribute of element.attributes) {
      if (this.#isHidden(attribute, nil)) continue;
      const name = attributeMember(stripNamespaces ? attribute.local : attribute.name);
      const member = attributePrefix + name;
      object ??= {};
      // Without prefixes two may have the same name; the one without a prefix counts, or else the first.
      if (stripNamespaces && attribute.prefix !== '' && Object.hasOwn(object, member)) continue;
      setMember(object, member, this.#scalar(attribute.value, hints?.next(`@${name}`) ?? null));
    }
    return object;
  }

  #isHidden(attribute: XmlAttribute, nil: boolean): boolean {
    const { nulls, stripNamespaces } = this.#mapping;
    if (isNamespaceDeclaration(attribute)) {
      if (stripNamespaces) return true;
      return nulls === 'nil' && attribute.name === 'xmlns:xsi' && attribute.value.trim() === schemaInstanceNamespace;
    }
    return nil && attribute.local === 'nil' && attribute.uri === schemaInstanceNamespace;
  }

  /** It has `xsi:nil="true"`, and nothing else. */
  #isNil(element: XmlElement): boolean {
    if (this.#mapping.nulls !== 'nil' || element.children.length > 0) return false;
    const nil = attributeOf(element, schemaInstanceNamespace, 'nil')?.trim();
    if (nil !== 'true' && nil !== '1') return false;
    return element.attributes.every(
      (one) => (one.local === 'nil' && one.uri === schemaInstanceNamespace) || this.#isHidden(one, false),
    );
  }

  #empty(): JsonScalar {
    return this.#mapping.nulls === 'empty' ? null : '';
  }

  #scalar(text: string, hints: PathState | null): JsonScalar {
    return xmlScalar(text, hints?.flags ?? 0, this.#mapping.infer);
  }

  #elementName(element: XmlElement): string {
    return this.#mapping.memberName(this.#mapping.stripNamespaces ? element.local : element.name);
  }
}

function isOrdered(hints: PathState | null): boolean {
  return hints !== null && (hints.flags & hint.ordered) !== 0;
}

function preservesSpace(element: XmlElement, outer: boolean): boolean {
  const space = attributeOf(element, xmlNamespace, 'space');
  return space === 'preserve' || (space !== 'default' && outer);
}

const notSpace = /[^ \t\r\n]/;

/** `significant`: there is text other than white space between elements. */
function contentOf(
  element: XmlElement,
  preserve: boolean,
): { readonly elements: boolean; readonly significant: boolean } {
  let elements = false;
  let significant = false;
  for (const child of element.children) {
    if (child.kind === 'element') elements = true;
    else if (child.kind === 'text' && !significant) significant = preserve || child.cdata || notSpace.test(child.text);
  }
  return { elements, significant: significant || (!elements && element.children.length > 0) };
}

function textOf(children: readonly XmlNode[]): string {
  let text = '';
  for (const child of children) if (child.kind === 'text') text += child.text;
  return text;
}
