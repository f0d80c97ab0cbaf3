import { useQueries, useSuspenseQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { callerQuery, nodeQuery, rowsQuery, schemaListQuery } from '../api/queries.ts';
import { allCollections, type Collection, writeProblem } from './collections.ts';
import { labelOf } from './labels.ts';

export interface CollectionView {
  readonly collection: Collection;
  readonly all: readonly Collection[];
  /** Path of the collection in the Admin API; null: the parent is missing. */
  readonly path: string | null;
  readonly mayWrite: boolean;
  /** Why it may not be written; null: it may. */
  readonly writeProblem: string | null;
}

export interface Parent {
  readonly parent?: string;
  readonly parentId?: string;
}

/** Null: there is no such entity. */
export function useCollection(name: string, { parent, parentId }: Parent = {}): CollectionView | null {
  const { data: schemas } = useSuspenseQuery(schemaListQuery);
  const { data: caller } = useSuspenseQuery(callerQuery);
  const { data: node } = useSuspenseQuery(nodeQuery);
  const all = useMemo(() => allCollections(schemas), [schemas]);
  const collection = all.find(({ info }) => info.name === name);
  if (collection === undefined) return null;
  const { info } = collection;
  const problem = writeProblem(collection, caller, node.configuration);
  const place = info.nested_under.find(({ entity }) => entity === parent);
  const above = all.find((one) => one.info.name === parent)?.info.path ?? null;
  const nested =
    place === undefined || parentId === undefined || above === null
      ? null
      : `${above}/${encodeURIComponent(parentId)}/${place.path}`;
  return { collection, all, path: info.path ?? nested, mayWrite: problem === null, writeProblem: problem };
}

/** Rows of the entities that this one refers to: only so many, since they are read for their names. */
const maxNamed = 1000;

/** Names of the rows that rows of the collection refer to, by id. */
export function useLabels({ collection, all }: CollectionView): ReadonlyMap<string, string> {
  const paths = [...new Set(collection.info.references.map(({ entity }) => entity))].flatMap((entity) => {
    const path = all.find(({ info }) => info.name === entity)?.info.path ?? null;
    return path === null ? [] : [path];
  });
  return useQueries({
    queries: paths.map((path) => rowsQuery(path, maxNamed)),
    combine: (results) =>
      new Map(results.flatMap(({ data }) => (data?.rows ?? []).map((row) => [row.id, labelOf(row)] as const))),
  });
}
