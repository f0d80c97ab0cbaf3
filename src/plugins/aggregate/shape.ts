import { isJsonObject, type JsonObject, type JsonValue, setMember } from '../../plugin-kit/json/index.ts';
import { arePaths, omittedAt, pickedAt, renamedAt } from './shape-paths.ts';
import { parsePath, TemplateError, type ValuePath } from './values/reference.ts';

/** How the value of a response is changed before it is placed in the document. */
export interface ShapeConfig {
  readonly unwrap: string | null;
  readonly collection: 'keep' | 'first' | 'list';
  readonly pick: readonly string[] | null;
  readonly omit: readonly string[] | null;
  readonly rename: Readonly<Record<string, string>> | null;
  readonly wrap: string | null;
}

export type Shape = (value: JsonValue) => JsonValue;

/** Members by name; a leaf has no members, and a new name for `rename`. */
interface Selection {
  readonly members: Map<string, Selection>;
  /** The member itself is selected. */
  chosen: boolean;
  renamed: string | null;
}

/** Null: the value is unchanged. A shape never changes its argument: other parts may refer to it. Throws a `TemplateError`. */
export function compileShape(config: ShapeConfig): Shape | null {
  const steps: Shape[] = [];
  if (config.unwrap !== null) steps.push(unwrapping(parsePath(config.unwrap)));
  if (config.collection === 'first') steps.push((value) => (Array.isArray(value) ? (value[0] ?? null) : value));
  if (config.collection === 'list') steps.push(asList);
  if (config.pick !== null && config.pick.length > 0) steps.push(picking(config.pick));
  if (config.omit !== null && config.omit.length > 0) steps.push(omitting(config.omit));
  if (config.rename !== null && Object.keys(config.rename).length > 0) steps.push(renaming(config.rename));
  const { wrap } = config;
  if (wrap !== null) steps.push((value) => withMember({}, wrap, value));
  return steps.length === 0 ? null : (value) => steps.reduce((shaped, step) => step(shaped), value);
}

function unwrapping(path: ValuePath): Shape {
  return (value) => path(value) ?? null;
}

function picking(paths: readonly string[]): Shape {
  if (arePaths(paths)) return pickedAt(paths);
  const selection = selectionOf(paths);
  return (value) => picked(value, selection);
}

function omitting(paths: readonly string[]): Shape {
  if (arePaths(paths)) return omittedAt(paths);
  const selection = selectionOf(paths);
  return (value) => omitted(value, selection);
}

function renaming(newNames: Readonly<Record<string, string>>): Shape {
  const paths = Object.keys(newNames);
  if (arePaths(paths)) return renamedAt(newNames);
  const selection = selectionOf(paths, newNames);
  return (value) => renamed(value, selection);
}

function asList(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value;
  return value === null ? [] : [value];
}

function withMember(object: JsonObject, name: string, value: JsonValue): JsonObject {
  setMember(object, name, value);
  return object;
}

/** The old spelling: `items[*].id` and `items.id` mean the same: lists on the way are gone through. */
function namesIn(path: string): readonly string[] {
  const names = path
    .split('.')
    .map((name) => name.replace(/\[\*\]$/, ''))
    .filter((name, index) => name !== '' || index > 0);
  if (names.length === 0 || names.some((name) => !/^[^[\]\s]+$/.test(name))) {
    throw new TemplateError(`'${path}' must be names joined by dots`);
  }
  return names;
}

function selectionOf(paths: readonly string[], newNames: Readonly<Record<string, string>> = {}): Selection {
  const root: Selection = { members: new Map(), chosen: false, renamed: null };
  for (const path of paths) {
    let node = root;
    for (const name of namesIn(path)) {
      const next: Selection = node.members.get(name) ?? { members: new Map(), chosen: false, renamed: null };
      node.members.set(name, next);
      node = next;
    }
    node.chosen = true;
    node.renamed = newNames[path] ?? null;
  }
  return root;
}

function picked(value: JsonValue, selection: Selection): JsonValue {
  if (Array.isArray(value)) return value.map((element) => picked(element, selection));
  if (!isJsonObject(value)) return value;
  const kept: JsonObject = {};
  for (const [name, next] of selection.members) {
    if (!Object.hasOwn(value, name)) continue;
    const member = value[name] as JsonValue;
    setMember(kept, name, next.chosen ? member : picked(member, next));
  }
  return kept;
}

function omitted(value: JsonValue, selection: Selection): JsonValue {
  return rebuilt(value, selection, omitted, (next) => (next.chosen ? null : undefined));
}

function renamed(value: JsonValue, selection: Selection): JsonValue {
  return rebuilt(value, selection, renamed, (next) => next.renamed ?? undefined);
}

/** A copy of the selected objects. `nameFor` returns a new name, or null to omit the member. */
function rebuilt(
  value: JsonValue,
  selection: Selection,
  below: (value: JsonValue, selection: Selection) => JsonValue,
  nameFor: (next: Selection) => string | null | undefined,
): JsonValue {
  if (Array.isArray(value)) return value.map((element) => below(element, selection));
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    const next = selection.members.get(name);
    const newName = next === undefined ? undefined : nameFor(next);
    if (newName === null) continue;
    setMember(copy, newName ?? name, next === undefined || next.members.size === 0 ? member : below(member, next));
  }
  return copy;
}
