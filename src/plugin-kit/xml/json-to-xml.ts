import { isJsonObject, type JsonObject, type JsonScalar, type JsonValue } from '../json/json.ts';
import { XmlLimitError, XmlMappingError } from './xml-errors.ts';
import { type CompiledXmlMapping, compiledMapping, hint, type XmlMapping } from './xml-mapping.ts';
import { hasOnlyXmlCharacters } from './xml-names.ts';
import { XmlNamespaces } from './xml-namespaces.ts';
import type { PathState } from './xml-paths.ts';
import {
  schemaInstanceNamespace,
  type XmlAttribute,
  type XmlDocument,
  type XmlElement,
  type XmlNode,
  xmlnsNamespace,
} from './xml-tree.ts';

/**
 * A JSON value as a document. Throws an `XmlMappingError` for values without a form in XML, and an `XmlLimitError` beyond the
 * mapping's limits. Write the result with `xmlText`.
 */
export function jsonToXml(value: JsonValue, mapping: XmlMapping | CompiledXmlMapping = {}): XmlDocument {
  return { kind: 'document', before: [], root: new TreeMaker(compiledMapping(mapping)).root(value), after: [] };
}

class TreeMaker {
  readonly #mapping: CompiledXmlMapping;
  /** Numbers of the members and elements on the way to the current one, for messages. */
  readonly #trail: number[] = [];
  readonly #namespaces = new XmlNamespaces();
  #nodes = 0;
  #size = 0;
  /** The prefix `xsi` is used without being declared. */
  #usesNil = false;

  constructor(mapping: CompiledXmlMapping) {
    this.#mapping = mapping;
  }

  root(value: JsonValue): XmlElement {
    const { root, defaultRoot, namespaces, hints } = this.#mapping;
    const [name, content] = root === null ? this.#onlyMember(value, defaultRoot) : [root, value];
    const declared = Object.entries(namespaces).map(([prefix, uri]) => declaration(prefix, uri));
    const element = this.#element(name, content, hints?.next(name) ?? null, declared);
    if (this.#usesNil) element.attributes.push(declaration('xsi', schemaInstanceNamespace));
    return element;
  }

  #onlyMember(value: JsonValue, defaultRoot: string | null): readonly [string, JsonValue] {
    const names = isJsonObject(value) ? Object.keys(value) : [];
    const name = names[0];
    if (isJsonObject(value) && names.length === 1 && name !== undefined && !this.#isReserved(name)) {
      const content = value[name] as JsonValue;
      if (!Array.isArray(content)) return [name, content];
      if (content.length === 1) return [name, content[0] as JsonValue];
    }
    if (defaultRoot === null) throw this.#refusal('only an object with one member can be a document');
    return [defaultRoot, value];
  }

  #element(
    memberName: string,
    value: JsonValue,
    hints: PathState | null,
    declared: readonly XmlAttribute[],
  ): XmlElement {
    const { limits, elementName } = this.#mapping;
    const name = this.#name(memberName, elementName);
    if (this.#trail.length > limits.maxDepth) throw beyond(`is nested deeper than ${limits.maxDepth} levels`);
    this.#count(2 * name.length + 5);
    const members = isJsonObject(value) ? value : null;
    const attributes = members === null ? [...declared] : this.#attributes(members, declared);
    this.#namespaces.open();
    for (const one of attributes) if (isDeclaration(one)) this.#declare(one);
    for (let at = 0; at < attributes.length; at++) attributes[at] = this.#bound(attributes[at] as XmlAttribute);
    if (attributes.length > 1) this.#refuseDuplicates(attributes);
    const colon = name.indexOf(':');
    const prefix = colon < 0 ? '' : name.slice(0, colon);
    const uri = this.#resolve(prefix);
    const children: XmlNode[] = [];
    const element: XmlElement = {
      kind: 'element',
      name,
      prefix,
      local: name.slice(colon + 1),
      uri,
      attributes,
      children,
    };
    if (members !== null) this.#content(members, children, hints);
    else if (Array.isArray(value)) this.#elements(this.#mapping.itemName, value, children, hints);
    else if (value === null) this.#null(element);
    else this.#text(value as JsonScalar, children, hints);
    this.#namespaces.close();
    return element;
  }

  #content(members: JsonObject, children: XmlNode[], hints: PathState | null): void {
    const { textName, contentName, attributePrefix } = this.#mapping;
    const ordered = Object.hasOwn(members, contentName);
    let place = 0;
    for (const name of Object.keys(members)) {
      const value = members[name] as JsonValue;
      this.#trail.push(++place);
      if (name === contentName) this.#ordered(value, children, hints);
      else if (!name.startsWith(attributePrefix)) {
        if (ordered) throw this.#refusal('content in its order does not go together with other content');
        if (name === textName) this.#text(this.#scalar(value, 'a text'), children, hints);
        else this.#member(name, value, children, hints);
      }
      this.#trail.pop();
    }
  }

  #ordered(value: JsonValue, children: XmlNode[], hints: PathState | null): void {
    if (!Array.isArray(value)) throw this.#refusal('content in its order must be an array');
    let place = 0;
    for (const one of value) {
      this.#trail.push(++place);
      if (!isJsonObject(one)) this.#text(this.#scalar(one, 'a text'), children, hints);
      else {
        const names = Object.keys(one);
        const name = names[0];
        if (names.length !== 1 || name === undefined || this.#isReserved(name))
          throw this.#refusal('an element in its order must be an object with one member');
        this.#member(name, one[name] as JsonValue, children, hints);
      }
      this.#trail.pop();
    }
  }

  #member(name: string, value: JsonValue, children: XmlNode[], hints: PathState | null): void {
    if (Array.isArray(value)) this.#elements(name, value, children, hints);
    else children.push(this.#element(name, value, hints?.next(name) ?? null, none));
  }

  #elements(name: string, values: readonly JsonValue[], children: XmlNode[], hints: PathState | null): void {
    const below = hints?.next(name) ?? null;
    let place = 0;
    for (const value of values) {
      this.#trail.push(++place);
      children.push(this.#element(name, value, below, none));
      this.#trail.pop();
    }
  }

  /** Without namespaces: their declarations may be among the attributes. */
  #attributes(members: JsonObject, declared: readonly XmlAttribute[]): XmlAttribute[] {
    const { attributePrefix, limits } = this.#mapping;
    const own: XmlAttribute[] = [];
    let place = 0;
    for (const member of Object.keys(members)) {
      place++;
      if (!member.startsWith(attributePrefix)) continue;
      this.#trail.push(place);
      const value = this.#scalar(members[member] as JsonValue, 'an attribute');
      if (value !== null) {
        const name = this.#name(member.slice(attributePrefix.length), this.#mapping.attributeName);
        const text = this.#characters(scalarText(value));
        this.#count(name.length + text.length + 4);
        const colon = name.indexOf(':');
        const prefix = colon < 0 ? '' : name.slice(0, colon);
        own.push({ name, prefix, local: name.slice(colon + 1), uri: '', value: text });
      }
      this.#trail.pop();
    }
    if (own.length > limits.maxAttributes)
      throw beyond(`has more than ${limits.maxAttributes} attributes in an element`);
    return [...declared.filter(({ name }) => !own.some((one) => one.name === name)), ...own];
  }

  #declare({ prefix, local, value }: XmlAttribute): void {
    const problem = this.#namespaces.declare(prefix === '' ? '' : local, value.trim());
    if (problem !== null) throw this.#refusal(problem);
  }

  #bound(attribute: XmlAttribute): XmlAttribute {
    if (attribute.uri !== '') return attribute;
    if (isDeclaration(attribute)) return { ...attribute, uri: xmlnsNamespace };
    return attribute.prefix === '' ? attribute : { ...attribute, uri: this.#resolve(attribute.prefix) };
  }

  #refuseDuplicates(attributes: readonly XmlAttribute[]): void {
    const seen = new Set<string>();
    for (const { uri, local } of attributes) {
      const key = `${uri} ${local}`;
      if (seen.has(key)) throw this.#refusal('an attribute occurs twice');
      seen.add(key);
    }
  }

  #null(element: XmlElement): void {
    if (this.#mapping.nulls === 'empty') return;
    const uri = this.#resolve('xsi');
    if (uri !== schemaInstanceNamespace) throw this.#refusal('the prefix xsi has another meaning here');
    element.attributes.push({ name: 'xsi:nil', prefix: 'xsi', local: 'nil', uri, value: 'true' });
  }

  #text(value: JsonScalar, children: XmlNode[], hints: PathState | null): void {
    const text = value === null ? '' : this.#characters(scalarText(value));
    if (text === '') return;
    this.#count(text.length);
    children.push({ kind: 'text', text, cdata: hints !== null && (hints.flags & hint.cdata) !== 0 });
  }

  #resolve(prefix: string): string {
    const uri = this.#namespaces.resolve(prefix);
    if (uri !== null) return uri;
    if (prefix === 'xsi' && this.#mapping.nulls === 'nil') {
      this.#usesNil = true;
      return schemaInstanceNamespace;
    }
    throw this.#refusal('a prefix is not bound to a namespace');
  }

  #name(member: string, named: (member: string) => string | null): string {
    const { maxNameLength } = this.#mapping.limits;
    if (member.length > maxNameLength) throw beyond(`has a name of more than ${maxNameLength} characters`);
    const name = named(member);
    if (name === null) throw this.#refusal('a name that is none in XML');
    return name;
  }

  #scalar(value: JsonValue, what: string): JsonScalar {
    if (Array.isArray(value) || isJsonObject(value)) throw this.#refusal(`${what} must be a string, number or boolean`);
    return value;
  }

  #characters(text: string): string {
    if (!hasOnlyXmlCharacters(text)) throw this.#refusal('a character that XML cannot carry');
    return text;
  }

  #isReserved(name: string): boolean {
    const { attributePrefix, textName, contentName } = this.#mapping;
    return name === textName || name === contentName || name.startsWith(attributePrefix);
  }

  #count(characters: number): void {
    const { limits, maxOutput } = this.#mapping;
    this.#size += characters;
    if (++this.#nodes > limits.maxNodes) throw beyond(`has more than ${limits.maxNodes} nodes`);
    if (this.#size > maxOutput) throw beyond(`is longer than ${maxOutput} characters`);
  }

  #refusal(what: string): XmlMappingError {
    return new XmlMappingError(what, this.#trail);
  }
}

const none: readonly XmlAttribute[] = Object.freeze([]);

function beyond(what: string): XmlLimitError {
  return new XmlLimitError(what, null);
}

function isDeclaration({ name, prefix }: XmlAttribute): boolean {
  return prefix === 'xmlns' || name === 'xmlns';
}

function declaration(prefix: string, uri: string): XmlAttribute {
  return prefix === ''
    ? { name: 'xmlns', prefix: '', local: 'xmlns', uri: xmlnsNamespace, value: uri }
    : { name: `xmlns:${prefix}`, prefix: 'xmlns', local: prefix, uri: xmlnsNamespace, value: uri };
}

/** Numbers with the digits that they were read with. */
function scalarText(value: Exclude<JsonScalar, null>): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? value.rawJSON : String(value);
}
