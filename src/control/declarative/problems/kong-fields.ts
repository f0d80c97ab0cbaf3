import type { ErrorNode, ErrorTree } from '../../../shared/schema/validate.ts';
import type { ConfigProblem } from '../contract.ts';

type Mutable = string | MutableTree | (Mutable | null)[];
interface MutableTree {
  [field: string]: Mutable;
}

/**
 * Kong's `fields` of an invalid document: a tree that mirrors it, with null for the valid elements of a list. An unknown reference is
 * where Kong has it: under the kind of the entity, by its name, id or position.
 */
export function kongFields(problems: readonly ConfigProblem[]): ErrorTree {
  const root: MutableTree = {};
  for (const problem of problems) {
    if (problem.kind === 'reference') putReference(root, problem);
    else if (problem.kind === 'shape' || problem.kind === 'uniqueness') putAt(root, problem.path, messageOf(problem));
    else putAt(root, problem.path, problem.errors);
  }
  return root;
}

function messageOf({ errors }: ConfigProblem): string {
  const messages = errors['@entity'];
  return Array.isArray(messages) ? messages.map(String).join('; ') : '';
}

function putReference(root: MutableTree, { entity, path, name, id, errors }: ConfigProblem): void {
  const list = Object.values(errors).map(String);
  const step = name ?? id ?? Number(path.at(-1)) + 1;
  const section = sectionByKey(root, entity ?? '');
  const before = section[String(step)];
  define(section, String(step), Array.isArray(before) ? [...before, ...list] : list);
}

/** The errors of one kind of entity as an object: where there are both, positions become keys, from 1. */
function sectionByKey(root: MutableTree, name: string): MutableTree {
  const section = Object.hasOwn(root, name) ? root[name] : undefined;
  if (section !== undefined && typeof section !== 'string' && !Array.isArray(section)) return section;
  const keyed: MutableTree = {};
  if (Array.isArray(section)) {
    for (const [index, node] of section.entries()) if (node != null) define(keyed, String(index + 1), node);
  }
  define(root, name, keyed);
  return keyed;
}

function putAt(root: MutableTree, path: readonly (string | number)[], value: ErrorNode): void {
  let node: MutableTree | (Mutable | null)[] = root;
  for (const [at, step] of path.entries()) {
    const isLast = at === path.length - 1;
    const next: Mutable | null | undefined = childOf(node, step);
    if (isLast) {
      setChild(node, step, typeof value === 'string' ? value : merged(next, value));
      return;
    }
    if (next == null || typeof next === 'string') {
      const child: MutableTree | Mutable[] = typeof path[at + 1] === 'number' ? [] : {};
      // A message for the whole stays with those for its parts.
      if (typeof next === 'string' && !Array.isArray(child)) define(child, '@entity', [next]);
      setChild(node, step, child);
      node = child;
    } else node = next;
  }
  Object.assign(root, merged(root, value));
}

function merged(before: Mutable | null | undefined, value: ErrorNode): Mutable {
  if (typeof value === 'string' || Array.isArray(value)) return value as Mutable;
  const tree: MutableTree = {};
  if (typeof before === 'string') define(tree, '@entity', [before]);
  else if (before != null && !Array.isArray(before))
    for (const key of Object.keys(before)) define(tree, key, before[key]!);
  for (const [key, node] of Object.entries(value)) define(tree, key, node as Mutable);
  return tree;
}

function childOf(node: MutableTree | (Mutable | null)[], step: string | number): Mutable | null | undefined {
  if (Array.isArray(node)) return node[Number(step)];
  const key = keyIn(step);
  return Object.hasOwn(node, key) ? node[key] : undefined;
}

function setChild(node: MutableTree | (Mutable | null)[], step: string | number, value: Mutable): void {
  if (!Array.isArray(node)) {
    define(node, keyIn(step), value);
    return;
  }
  while (node.length < Number(step)) node.push(null);
  node[Number(step)] = value;
}

/** The position in a list that has become an object. */
function keyIn(step: string | number): string {
  return typeof step === 'number' ? String(step + 1) : step;
}

function define(target: MutableTree, key: string, value: Mutable): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
