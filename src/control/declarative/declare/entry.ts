import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import type { ErrorTree } from '../../../shared/schema/validate.ts';
import type { ConfigDocument, ConfigProblem, DocumentPath } from '../contract.ts';

/** One entity of a document, from its place in the document to its row. */
export interface Entry {
  readonly definition: EntityDefinition;
  /** What the document has for it, without nested entities and remarks. */
  input: Readonly<Record<string, unknown>>;
  /** The entity around it, and its own field that refers to that. */
  readonly parent: Entry | null;
  readonly parentField: string | null;
  /** Key of the list that it is in, and its position there. */
  readonly key: string;
  readonly index: number;
  /** The id in the document, in lower case; null when there is none, or when it is not a UUID. */
  readonly givenId: string | null;
  /** Ids of what the foreign fields refer to; absent: unset, or unknown. */
  readonly references: Record<string, string>;
  /** The id of the row. Empty until it was assigned. */
  id: string;
  /** It has no row, because something is wrong with it. */
  failed: boolean;
  /** The row that is there now. */
  before: Row | null;
  /** The complete row; null before it was built, and when it is not valid. */
  row: Row | null;
}

/** Path of the entity from the root of the document. */
export function pathOf(entry: Entry): DocumentPath {
  const steps: (string | number)[] = [];
  for (let at: Entry | null = entry; at !== null; at = at.parent) steps.push(at.index, at.key);
  return steps.reverse();
}

export function problemOf(
  document: ConfigDocument,
  entry: Entry,
  kind: NonNullable<ConfigProblem['kind']>,
  errors: ErrorTree,
): ConfigProblem {
  const { definition, input, parent, parentField, references } = entry;
  const path = pathOf(entry);
  const name = definition.endpointKey === null ? null : input[definition.endpointKey];
  const foreign = Object.keys(definition.foreign).map((field) => [field, references[field] ?? null] as const);
  return {
    entity: definition.name,
    path,
    get position() {
      return document.positionOf(path);
    },
    id: entry.givenId ?? (entry.id || null),
    name: typeof name === 'string' && !isSecret(definition) ? name : null,
    tags: tagsOf(input['tags']),
    input,
    errors,
    kind,
    rowId: entry.id || null,
    references: Object.fromEntries(foreign),
    ...(parent !== null && parentField !== null && { parent: { field: parentField, id: parent.givenId } }),
    positionIn: (inner) => document.positionOf([...path, ...inner]),
  };
}

/** The endpoint key of a credential may be the secret itself. */
function isSecret({ schema, endpointKey }: EntityDefinition): boolean {
  return endpointKey !== null && schema.fields.get(endpointKey)?.meta.encrypted === true;
}

function tagsOf(value: unknown): readonly string[] | null {
  return Array.isArray(value) && value.every((tag) => typeof tag === 'string') ? value : null;
}
