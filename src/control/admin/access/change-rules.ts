import type { Row } from '../../../shared/entities/entity.ts';
import { foreignId, text, texts } from '../../../shared/entities/row-fields.ts';
import type { Caller } from './caller.ts';
import { matches, matchesTags } from './tag-pattern.ts';

/** One row that a request changes. Without `before` it is created, without `after` deleted. */
export interface ProposedChange {
  /** Schema name. */
  readonly entity: string;
  readonly before: Row | null;
  readonly after: Row | null;
}

type Scope = Pick<Caller, 'role' | 'tagPatterns'>;

/** True when the caller may write a row as it is: one of its tags matches. A row without tags belongs to admins. */
export function owns({ role, tagPatterns }: Scope, row: Row): boolean {
  if (role === 'admin') return true;
  return role === 'edit' && matchesTags(tagPatterns, texts(row, 'tags') ?? []);
}

/**
 * Whether the caller may make this change, by the row alone: it must own the row before and after. `checkReferences` checks what the row
 * refers to. False for a change where neither side is known.
 */
export function mayChange(caller: Scope, change: ProposedChange): boolean {
  return changeProblem(caller, change) === null;
}

/** Why the caller may not make this change, in one line; null: it may. */
export function changeProblem(caller: Scope, { entity, before, after }: ProposedChange): string | null {
  if (caller.role === 'admin') return null;
  if (caller.role === 'read') return 'the role may only read';
  if (before === null && after === null) return `a change of ${entity} cannot be checked`;
  const patterns = caller.tagPatterns.join(', ');
  for (const row of [before, after]) {
    if (row === null) continue;
    const state = row === before ? 'has' : 'would have';
    if (!owns(caller, row)) return `${named(entity, row)} ${state} no tag that matches ${patterns}`;
    const problem = reachProblem(caller, entity, row);
    if (problem !== null) return problem;
  }
  return tagProblem(caller, before, after);
}

/** A tag gives rights: to other editors, to consumers that a plugin lets in, and to clients that synchronise by tags. */
function tagProblem({ tagPatterns }: Scope, before: Row | null, after: Row | null): string | null {
  if (after === null) return null;
  const [old, fresh] = [before, after].map((row) => new Set(row === null ? [] : texts(row, 'tags')));
  const changed = old!.symmetricDifference(fresh!);
  const foreign = [...changed].find((tag) => !matchesTags(tagPatterns, [tag]));
  return foreign === undefined ? null : `the tag '${foreign}' matches none of ${tagPatterns.join(', ')}`;
}

/** What reaches entities of others although its own tags match. */
function reachProblem({ tagPatterns }: Scope, entity: string, row: Row): string | null {
  if (entity === 'plugins' && foreignId(row, 'route') === null && foreignId(row, 'service') === null) {
    // On a consumer alone, it would replace the instances of services of others: the most specific instance runs.
    return `${named(entity, row)} needs a route or a service: without one it runs on those of others`;
  }
  if (entity === 'acls') {
    const group = text(row, 'group') ?? '';
    // A group is a name that plugins of all services share.
    if (!tagPatterns.some((pattern) => matches(pattern, group))) {
      return `the group '${group}' matches none of ${tagPatterns.join(', ')}`;
    }
  }
  return null;
}

/** For messages. Names of credentials may be secrets, so those have only their id. */
export function named(entity: string, row: Row): string {
  const name = nameable.has(entity) ? text(row, 'name') : null;
  return `${entity} ${name === null ? row.id : `'${name}'`}`;
}

const nameable: ReadonlySet<string> = new Set(['services', 'routes', 'upstreams', 'plugins', 'snis']);
