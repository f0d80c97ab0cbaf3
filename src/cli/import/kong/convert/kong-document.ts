import type { DocumentPath } from '../../../../control/declarative/contract.ts';
import type { Fields, KongEntity } from '../kong-entity.ts';

export interface KongDocument {
  /** Flat: a list for each collection. */
  readonly content: Fields;
  /** The entity that a path leads into; null when there is none. */
  entityAt(path: DocumentPath): KongEntity | null;
}

/** A declarative document with the entities. */
export function kongDocument(format: string, entities: readonly KongEntity[]): KongDocument {
  const lists = Map.groupBy(entities, ({ collection }) => collection);
  const listed = [...lists].map(([name, list]) => [name, list.map(({ fields }) => fields)]);
  return {
    content: { _format_version: format, ...Object.fromEntries(listed) },
    entityAt: ([collection, index]) => lists.get(String(collection))?.[Number(index)] ?? null,
  };
}
