import { normalisePath } from '../http/index.ts';
import { SchemaError } from '../json-schema/index.ts';
import { compileRegex } from '../runtime/index.ts';

interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  /** Segments with text and parameters: `report-{id}.json`. */
  readonly mixed: { readonly text: string; readonly pattern: RegExp; readonly node: Node<T> }[];
  any: Node<T> | null;
  entry: Entry<T> | null;
}

interface Entry<T> {
  /** Names of the parameters, in order. */
  readonly names: readonly string[];
  readonly template: string;
  readonly operations: Map<string, T>;
}

export interface PathMatch<T> {
  readonly template: string;
  readonly operations: ReadonlyMap<string, T>;
  /** Percent-encoded, one char for each byte. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Finds the most specific template for a path: in each segment, literal text precedes text with parameters, which precedes a parameter. */
export class PathTable<T> {
  readonly #root: Node<T> = newNode();

  /** `pointer`: of the operation, for the `SchemaError` of an ambiguous path. */
  add(template: string, method: string, operation: T, pointer: string): void {
    const names: string[] = [];
    let node = this.#root;
    for (const segment of template.split('/').slice(1)) node = step(node, segment, names, pointer);
    node.entry ??= { names, template, operations: new Map() };
    if (node.entry.names.join('/') !== names.join('/')) {
      throw new SchemaError(pointer, `the path cannot be distinguished from ${node.entry.template}`);
    }
    if (node.entry.operations.has(method)) throw new SchemaError(pointer, 'the operation is there twice');
    node.entry.operations.set(method, operation);
  }

  /** `path`: as `request.path` is. */
  match(path: string): PathMatch<T> | null {
    const values: string[] = [];
    const entry = find(this.#root, path.split('/'), 1, values);
    if (entry === null) return null;
    const { template, operations, names } = entry;
    return { template, operations, parameters: new Map(names.map((name, at) => [name, values[at] ?? ''])) };
  }
}

function newNode<T>(): Node<T> {
  return { literals: new Map(), mixed: [], any: null, entry: null };
}

function step<T>(node: Node<T>, segment: string, names: string[], pointer: string): Node<T> {
  const parts = segment.split(/\{([^{}]+)\}/);
  for (let at = 1; at < parts.length; at += 2) {
    const name = parts[at] as string;
    if (names.includes(name)) throw new SchemaError(pointer, `the path has the parameter ${name} twice`);
    names.push(name);
  }
  if (parts.some((part, at) => at % 2 === 0 && /[{}]/.test(part)))
    throw new SchemaError(pointer, 'the path has a single brace');
  if (parts.length === 1) return childOf(node.literals, normalText(segment, pointer));
  if (parts.length === 3 && parts[0] === '' && parts[2] === '') {
    node.any ??= newNode();
    return node.any;
  }
  const texts = parts.filter((_, at) => at % 2 === 0).map((text) => normalText(text, pointer));
  const known = node.mixed.find(({ text }) => text === texts.join('{}'));
  if (known !== undefined) return known.node;
  const pattern = compileRegex(`^${texts.map((text) => text.replace(/[^\w]/g, escaped)).join('([^/]+)')}$`);
  const child = newNode<T>();
  node.mixed.push({ text: texts.join('{}'), pattern, node: child });
  node.mixed.sort((a, b) => b.text.length - a.text.length);
  return child;
}

function escaped(char: string): string {
  return `\\x{${char.charCodeAt(0).toString(16)}}`;
}

function childOf<T>(nodes: Map<string, Node<T>>, key: string): Node<T> {
  const known = nodes.get(key);
  if (known !== undefined) return known;
  const made = newNode<T>();
  nodes.set(key, made);
  return made;
}

/** Normalises the text of a template like the paths of requests. */
function normalText(text: string, pointer: string): string {
  if (/^[\w.~-]*$/.test(text) && !text.startsWith('.')) return text;
  const normal = normalisePath(`/x${Buffer.from(text, 'utf8').toString('latin1')}`);
  if (normal === null) throw new SchemaError(pointer, 'the path has something that no path of a request has');
  return normal.slice(2);
}

/** Adds the values of parameters to `values`; backtracking removes them. */
function find<T>(node: Node<T>, segments: readonly string[], at: number, values: string[]): Entry<T> | null {
  if (at === segments.length) return node.entry;
  const segment = segments[at] as string;
  const before = values.length;
  const literal = node.literals.get(segment);
  const found = literal === undefined ? null : find(literal, segments, at + 1, values);
  if (found !== null) return found;
  for (const { pattern, node: child } of node.mixed) {
    const match = pattern.exec(segment);
    if (match === null) continue;
    values.push(...match.slice(1));
    const entry = find(child, segments, at + 1, values);
    if (entry !== null) return entry;
    values.length = before;
  }
  if (node.any === null || segment === '') return null;
  values.push(segment);
  const entry = find(node.any, segments, at + 1, values);
  if (entry === null) values.length = before;
  return entry;
}
