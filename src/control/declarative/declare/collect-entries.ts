import { isUuid } from '../../../shared/schema/attributes.ts';
import type { ConfigDocument, ConfigProblem, DocumentPath } from '../contract.ts';
import { type Entry, pathOf, problemOf } from './entry.ts';
import type { NestedList, Nesting } from './nesting.ts';
import type { Pace } from './pace.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface Collected {
  /** Entities by schema name, in the order of the document. */
  readonly entries: ReadonlyMap<string, readonly Entry[]>;
  readonly problems: ConfigProblem[];
}

const versions = ['1.1', '2.1', '3.0'];

/** Finds the entities of a document, at every level, and what is wrong with the document itself. */
export async function collectEntries(document: ConfigDocument, nesting: Nesting, pace: Pace): Promise<Collected> {
  const problems: ConfigProblem[] = [];
  const entries = new Map<string, Entry[]>(nesting.definitions.map(({ name }) => [name, []]));
  const oldPaths = hasOldPaths(document.content);

  for (const [key, message] of rootProblems(document.content, nesting)) {
    problems.push(rootProblem(document, key, message));
  }
  for (const [key, value] of Object.entries(document.content)) {
    const definition = nesting.byName(key);
    const list = definition === undefined ? null : listOf(value);
    if (definition !== undefined && list !== null) await visit(list, { definition, field: '' }, null);
  }
  return { entries, problems };

  async function visit(items: readonly unknown[], list: NestedList, parent: Entry | null): Promise<void> {
    const { definition, field } = list;
    for (const [index, item] of items.entries()) {
      const wait = pace();
      if (wait !== null) await wait;
      if (!isFields(item)) {
        problems.push(shapeProblem(document, definition.name, parent, index));
        continue;
      }
      const inner: [NestedList, readonly unknown[]][] = [];
      const entry: Entry = {
        definition,
        input: {},
        parent,
        parentField: parent === null ? null : field,
        key: definition.name,
        index,
        givenId: isUuid(item['id']) ? item['id'].toLowerCase() : null,
        references: {},
        id: '',
        failed: false,
        before: null,
        row: null,
      };
      const wrong: Record<string, string> = {};
      entry.input = ownFields(entry, item, inner, wrong);
      if (Object.keys(wrong).length > 0) {
        entry.failed = true;
        problems.push(problemOf(document, entry, 'schema', wrong));
      }
      entries.get(definition.name)?.push(entry);
      for (const [nested, values] of inner) await visit(values, nested, entry);
    }
  }

  /** The fields of the entity itself. Its lists of entities go to `inner`, problems with them and with remarks to `wrong`. */
  function ownFields(
    { definition }: Entry,
    item: Fields,
    inner: [NestedList, readonly unknown[]][],
    wrong: Record<string, string>,
  ): Fields {
    const lists = nesting.listsIn(definition.name);
    const input: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(item)) {
      const nested = lists.get(key);
      if (nested !== undefined) {
        const values = listOf(value);
        if (values === null) wrong[key] = 'expected an array';
        else if (values.length > 0) inner.push([nested, values]);
      } else if (key === '_comment' || key === '_ignore') {
        const message = remarkProblem(key, value);
        if (message !== null) wrong[key] = message;
      } else define(input, key, value);
    }
    if (oldPaths && definition.name === 'routes' && Array.isArray(input['paths'])) {
      input['paths'] = withRegexMarks(input['paths']);
    }
    return input;
  }
}

/** A document of version 1.1 or 2.1 does not mark regexes in paths. */
function hasOldPaths({ _format_version: version }: Fields): boolean {
  return version === '1.1' || version === '2.1';
}

const plainPath = /^[a-zA-Z0-9.\-_~/%]*$/;

function withRegexMarks(paths: readonly unknown[]): readonly unknown[] {
  return paths.map((path) => (typeof path === 'string' && !plainPath.test(path) ? `~${path}` : path));
}

function rootProblems(content: Fields, nesting: Nesting): readonly (readonly [string, string])[] {
  const found: (readonly [string, string])[] = [];
  const version = content['_format_version'];
  if (version == null) found.push(['_format_version', 'required field missing']);
  else if (typeof version !== 'string') found.push(['_format_version', 'expected a string']);
  else if (!versions.includes(version)) found.push(['_format_version', `expected one of: ${versions.join(', ')}`]);
  for (const [key, value] of Object.entries(content)) {
    const message = rootProblemOf(key, value, nesting);
    if (message !== null) found.push([key, message]);
  }
  return found;
}

function rootProblemOf(key: string, value: unknown, nesting: Nesting): string | null {
  switch (key) {
    case '_format_version':
      return null;
    case '_transform':
      return value === null || typeof value === 'boolean' ? null : 'expected a boolean';
    case '_comment':
    case '_ignore':
      return remarkProblem(key, value);
    default:
      if (nesting.byName(key) === undefined) return 'unknown field';
      return listOf(value) === null ? 'expected an array' : null;
  }
}

function remarkProblem(key: '_comment' | '_ignore', value: unknown): string | null {
  if (value === null) return null;
  if (key === '_comment') return typeof value === 'string' ? null : 'expected a string';
  return listOf(value) === null ? 'expected an array' : null;
}

/** Null is an empty list, and so is `{}`, which Kong cannot tell from one. */
function listOf(value: unknown): readonly unknown[] | null {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value;
  return isFields(value) && Object.keys(value).length === 0 ? [] : null;
}

function rootProblem(document: ConfigDocument, key: string, message: string): ConfigProblem {
  return {
    entity: null,
    path: [],
    get position() {
      return document.positionOf([key]);
    },
    id: null,
    name: null,
    tags: null,
    input: {},
    errors: { [key]: message },
    kind: 'schema',
    positionIn: (inner) => document.positionOf(inner),
  };
}

function shapeProblem(document: ConfigDocument, key: string, parent: Entry | null, index: number): ConfigProblem {
  const path: DocumentPath = [...(parent === null ? [] : pathOf(parent)), key, index];
  return {
    entity: key,
    path,
    get position() {
      return document.positionOf(path);
    },
    id: null,
    name: null,
    tags: null,
    input: {},
    errors: { '@entity': ['expected a record'] },
    kind: 'shape',
    rowId: null,
    references: {},
    positionIn: (inner) => document.positionOf([...path, ...inner]),
  };
}

/** Also for a key such as `__proto__`, which an assignment would take for something else. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key in target || key in Object.prototype) {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
