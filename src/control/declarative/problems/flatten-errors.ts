import { isUuid } from '../../../shared/schema/attributes.ts';
import type { ErrorTree } from '../../../shared/schema/validate.ts';
import type { ConfigProblem } from '../contract.ts';
import { flattenTree } from './flatten-tree.ts';
import { kongFields } from './kong-fields.ts';

/** One message of `flattened_errors`. */
export type FlattenedError =
  | { readonly type: 'field'; readonly field: string; readonly message: string }
  | { readonly type: 'entity'; readonly message: string };

/** What is wrong with one entity, as `flatten_errors` shows it. */
export interface FlattenedEntity {
  readonly entity_type: string;
  readonly entity_id?: string;
  readonly entity_name?: string;
  readonly entity_tags?: readonly string[];
  /** What the document has for it; in another entity, with the reference to that. */
  readonly entity: Readonly<Record<string, unknown>>;
  readonly errors: readonly FlattenedError[];
}

export interface FlattenedErrors {
  /** What belongs to no entity. */
  readonly fields: ErrorTree;
  readonly flattened_errors: readonly FlattenedEntity[];
}

/** The problems in the form that `POST /config?flatten_errors=1` answers with. */
export function flattenErrors(problems: readonly ConfigProblem[]): FlattenedErrors {
  const others: ConfigProblem[] = [];
  const byPlace = new Map<string, ConfigProblem[]>();
  for (const problem of problems) {
    if (problem.entity === null || problem.kind === 'shape') {
      others.push(problem);
      continue;
    }
    const place = JSON.stringify(problem.path);
    const list = byPlace.get(place);
    if (list === undefined) byPlace.set(place, [problem]);
    else list.push(problem);
  }
  return {
    fields: kongFields(others),
    flattened_errors: [...byPlace.values()].flatMap((list) => flattened(list) ?? []),
  };
}

function flattened(problems: readonly ConfigProblem[]): FlattenedEntity | null {
  const [first] = problems;
  if (first?.entity == null) return null;
  const { id, name, tags } = first.input;
  return {
    entity_type: singularOf(first.entity),
    ...(isUuid(id) && { entity_id: id }),
    ...(typeof name === 'string' && name !== '' && { entity_name: name }),
    ...(isTexts(tags) && { entity_tags: tags }),
    entity: withParent(first),
    errors: problems.flatMap(({ errors }) => messagesOf(errors)),
  };
}

function messagesOf(errors: ErrorTree): readonly FlattenedError[] {
  return flattenTree(errors).map(({ path, message }) =>
    path === '' ? { type: 'entity', message } : { type: 'field', field: path, message },
  );
}

function withParent({ input, parent }: ConfigProblem): Readonly<Record<string, unknown>> {
  if (parent === undefined || parent.id === null || input[parent.field] != null) return input;
  return { ...input, [parent.field]: { id: parent.id } };
}

/** `services`: `service`; `keyauth_credentials`: `keyauth_credential`. */
function singularOf(entity: string): string {
  return entity.replace(/s$/, '');
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
