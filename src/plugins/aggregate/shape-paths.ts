import {
  compileJsonPath,
  compileJsonPaths,
  isJsonObject,
  isRfc9535,
  type JsonArray,
  type JsonObject,
  JsonPathError,
  type JsonPathState,
  type JsonPaths,
  type JsonValue,
  type SeenDocument,
  seenByFilters,
  setMember,
} from '../../plugin-kit/json/index.ts';
import { TemplateError } from './values/reference.ts';

/** Makes another value of the one given, which is never changed: others may refer to it. */
type Change = (value: JsonValue) => JsonValue;

/** True for a list of paths of RFC 9535, false for one of names joined by dots. Throws a `TemplateError` for one of both. */
export function arePaths(texts: readonly string[]): boolean {
  const count = texts.filter(isRfc9535).length;
  if (count > 0 && count < texts.length) throw new TemplateError('either all of its paths begin with $, or none does');
  return count > 0;
}

/** Keeps what the paths lead to, and the objects and lists around it. What is neither an object nor a list stays. */
export function pickedAt(paths: readonly string[]): Change {
  return walking([paths], (value, state, document) => pick(value, state, document) ?? emptied(value));
}

/** Leaves out what the paths lead to. */
export function omittedAt(paths: readonly string[]): Change {
  return walking([paths], omit);
}

/** Gives the members that a path leads to another name; of several paths the first counts. */
export function renamedAt(newNames: Readonly<Record<string, string>>): Change {
  const names = Object.values(newNames);
  const lists = Object.keys(newNames).map((path) => [path]);
  return walking(lists, (value, state, document) => rename(value, state, document, names));
}

function walking(
  lists: readonly (readonly string[])[],
  change: (value: JsonValue, state: JsonPathState, document: SeenDocument) => JsonValue,
): Change {
  const { start, filters } = compiled(lists);
  return (value) => change(value, start, filters ? seenByFilters(value) : { root: value, of: (child) => child });
}

function compiled(lists: readonly (readonly string[])[]): JsonPaths {
  try {
    for (const path of lists.flat()) compileJsonPath(path);
    return compileJsonPaths(lists);
  } catch (error) {
    if (error instanceof JsonPathError) throw new TemplateError(error.message);
    throw error;
  }
}

function emptied(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return [];
  return isJsonObject(value) ? {} : value;
}

/** Undefined: nothing of the value is kept. */
function pick(value: JsonValue, state: JsonPathState, document: SeenDocument): JsonValue | undefined {
  if (state.accepts.length > 0) return value;
  if (state.ends) return undefined;
  if (Array.isArray(value)) {
    const elements: JsonArray = [];
    for (const [at, child] of value.entries()) {
      const kept = pick(child, elementState(state, value, at, document), document);
      if (kept !== undefined) elements.push(kept);
    }
    return elements.length === 0 ? undefined : elements;
  }
  if (!isJsonObject(value)) return undefined;
  const members: JsonObject = {};
  for (const [name, child] of Object.entries(value)) {
    const kept = pick(child, memberState(state, name, child, document), document);
    if (kept !== undefined) setMember(members, name, kept);
  }
  return Object.keys(members).length === 0 ? undefined : members;
}

function omit(value: JsonValue, state: JsonPathState, document: SeenDocument): JsonValue {
  if (state.ends) return value;
  if (Array.isArray(value)) {
    const elements: JsonArray = [];
    for (const [at, child] of value.entries()) {
      const next = elementState(state, value, at, document);
      if (next.accepts.length === 0) elements.push(omit(child, next, document));
    }
    return elements;
  }
  if (!isJsonObject(value)) return value;
  const members: JsonObject = {};
  for (const [name, child] of Object.entries(value)) {
    const next = memberState(state, name, child, document);
    if (next.accepts.length === 0) setMember(members, name, omit(child, next, document));
  }
  return members;
}

function rename(
  value: JsonValue,
  state: JsonPathState,
  document: SeenDocument,
  newNames: readonly string[],
): JsonValue {
  if (state.ends) return value;
  if (Array.isArray(value)) {
    return value.map((child, at) => rename(child, elementState(state, value, at, document), document, newNames));
  }
  if (!isJsonObject(value)) return value;
  const members: JsonObject = {};
  for (const [name, child] of Object.entries(value)) {
    const next = memberState(state, name, child, document);
    const [accepted] = next.accepts;
    const newName = accepted === undefined ? name : (newNames[accepted] as string);
    setMember(members, newName, rename(child, next, document, newNames));
  }
  return members;
}

function elementState(state: JsonPathState, array: JsonArray, at: number, { root, of }: SeenDocument): JsonPathState {
  return state.element(at, array.length, of(array[at] as JsonValue), root);
}

function memberState(state: JsonPathState, name: string, child: JsonValue, { root, of }: SeenDocument): JsonPathState {
  return state.member(name, of(child), root);
}
