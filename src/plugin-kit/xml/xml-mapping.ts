import { escapeName, isQName, unescapeName } from './xml-names.ts';
import { defaultXmlLimits, type XmlLimits } from './xml-parse.ts';
import { type PathState, pathStates } from './xml-paths.ts';

/** How XML and JSON map to each other. Paths are those of `checkXmlPath`, with the names in the JSON. */
export interface XmlMapping {
  /** Prefix of members that are attributes. Its first character cannot start a name. Default `@`. */
  readonly attributePrefix?: string;
  /** Member for the text of an element with attributes. Default: `#text`. */
  readonly textName?: string;
  /** Elements and texts in document order. Default `#content`. */
  readonly contentName?: string;
  /** XML to JSON: prefixes and declarations of namespaces are dropped. Default false. */
  readonly stripNamespaces?: boolean;
  /** XML to JSON: the root element is the one member of an object. False: only its content. Default true. */
  readonly keepRoot?: boolean;
  /** JSON to XML: name of the root element. Default null: the one member of the value is the root. */
  readonly root?: string | null;
  /** JSON to XML without `root`: the root around a value that is not an object with one member. Null: it is refused. Default `root`. */
  readonly defaultRoot?: string | null;
  /** JSON to XML: declared at the root, by prefix; '' for the default namespace. Default none. */
  readonly namespaces?: Readonly<Record<string, string>>;
  /** JSON to XML: name of what is in an array within an array, or at the top. Default `item`. */
  readonly itemName?: string;
  /** Elements that are arrays also when they occur once. */
  readonly arrays?: readonly string[];
  /** Elements whose content keeps its order (`#content`). Others do only when text stands between elements. */
  readonly ordered?: readonly string[];
  /** Elements and attributes that are numbers, where their text is one. */
  readonly numbers?: readonly string[];
  /** `true`, `false`, `1` and `0` there are booleans. */
  readonly booleans?: readonly string[];
  /** Kept as text despite `infer`. */
  readonly strings?: readonly string[];
  /** JSON to XML: texts that are written as CDATA sections. */
  readonly cdata?: readonly string[];
  /** Texts that look like a boolean, or like a number that a double can hold, become one. Default false. */
  readonly infer?: boolean;
  /**
   * `empty`: null maps to an empty element and back. `nil`: null is `xsi:nil="true"`, an empty element is "". Default `empty`.
   */
  readonly nulls?: 'empty' | 'nil';
  /** Text between elements: `ordered` keeps its position, `text` joins it under `#text`. Default `ordered`. */
  readonly mixed?: 'ordered' | 'text';
  /** Member names that are not valid in XML: escaped (`_x0020_`), or refused. Default `escape`. */
  readonly invalidNames?: 'escape' | 'refuse';
  readonly limits?: Partial<XmlLimits>;
  /** Maximum characters of the XML that JSON is converted to. Default 16 Mi. */
  readonly maxOutput?: number;
}

/** Flags of paths. */
export const hint = Object.freeze({ array: 1, ordered: 2, number: 4, boolean: 8, string: 16, cdata: 32 });

/** A mapping with its defaults, its paths compiled. Made with `compileXmlMapping`; holds nothing of a request. */
export interface CompiledXmlMapping
  extends Required<Omit<XmlMapping, 'arrays' | 'ordered' | 'numbers' | 'booleans' | 'strings' | 'cdata'>> {
  readonly limits: XmlLimits;
  /** Null: no paths. */
  readonly hints: PathState | null;
  /** The member that represents an element. */
  memberName(elementName: string): string;
  /** The element that represents a member; null: there is none. */
  elementName(memberName: string): string | null;
  /** The same for an attribute, without the prefix. */
  attributeMember(attributeName: string): string;
  attributeName(memberName: string): string | null;
  readonly compiled: true;
}

/** Throws an `XmlPathError`. */
export function compileXmlMapping(mapping: XmlMapping): CompiledXmlMapping {
  const { attributePrefix = '@', textName = '#text', contentName = '#content', invalidNames = 'escape' } = mapping;
  const reserved = (name: string) =>
    name === textName || name === contentName || name.startsWith(attributePrefix) || name === '';
  const memberName = (name: string) => {
    if (invalidNames === 'refuse') return name;
    const text = unescapeName(name);
    return text !== name && reserved(text) ? name : text;
  };
  const elementName = (name: string) => (isQName(name) && memberName(name) === name ? name : attributeName(name));
  const attributeMember = invalidNames === 'refuse' ? (name: string) => name : unescapeName;
  const attributeName = invalidNames === 'refuse' ? validName : escapeName;
  return {
    attributePrefix,
    textName,
    contentName,
    stripNamespaces: mapping.stripNamespaces ?? false,
    keepRoot: mapping.keepRoot ?? true,
    root: mapping.root ?? null,
    defaultRoot: mapping.defaultRoot === undefined ? 'root' : mapping.defaultRoot,
    namespaces: mapping.namespaces ?? {},
    itemName: mapping.itemName ?? 'item',
    infer: mapping.infer ?? false,
    nulls: mapping.nulls ?? 'empty',
    mixed: mapping.mixed ?? 'ordered',
    invalidNames,
    limits: { ...defaultXmlLimits, ...mapping.limits },
    maxOutput: mapping.maxOutput ?? 16 * 1024 * 1024,
    hints: pathStates(hintsOf(mapping)),
    memberName,
    elementName,
    attributeMember,
    attributeName,
    compiled: true,
  };
}

function validName(name: string): string | null {
  return isQName(name) ? name : null;
}

/** Accepts both forms; compile a mapping that is used for more than one body. */
export function compiledMapping(mapping: XmlMapping | CompiledXmlMapping): CompiledXmlMapping {
  return 'compiled' in mapping ? mapping : compileXmlMapping(mapping);
}

function hintsOf(mapping: XmlMapping): (readonly [string, number])[] {
  const lists: readonly (readonly [readonly string[] | undefined, number])[] = [
    [mapping.arrays, hint.array],
    [mapping.ordered, hint.ordered],
    [mapping.numbers, hint.number],
    [mapping.booleans, hint.boolean],
    [mapping.strings, hint.string],
    [mapping.cdata, hint.cdata],
  ];
  return lists.flatMap(([paths = [], flag]) => paths.map((path) => [path, flag] as const));
}
