import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Row, rowQuery, rowsQuery } from '../api/queries.ts';
import type { Collection } from './collections.ts';
import { labelOf, summaryOf } from './labels.ts';
import type { CollectionView } from './use-collection.ts';

/** Rows of one kind that are shown; the list of the entity has the others. */
const maxShown = 50;

/** Links to what the row refers to, and to what refers to it. */
export function Related({ view, row }: { readonly view: CollectionView; readonly row: Row }) {
  const { collection, all, mayWrite } = view;
  const upward = collection.info.references.flatMap(({ field, entity }) => {
    const target = all.find(({ info }) => info.name === entity);
    const { id } = Object(row[field]) as { readonly id?: unknown };
    return target === undefined || typeof id !== 'string' ? [] : [{ field, target, id }];
  });
  const downward = all.flatMap((child) =>
    child.info.nested_under
      .filter(({ entity }) => entity === collection.info.name)
      .map(({ path }) => ({ child, path: `${collection.info.path}/${encodeURIComponent(row.id)}/${path}` })),
  );
  const tags = row.tags ?? [];
  if (upward.length + downward.length + tags.length === 0) return null;
  return (
    <section aria-label="Related entities" className="related">
      {upward.map(({ field, target, id }) => (
        <Referenced key={field} field={field} target={target} id={id} />
      ))}
      {downward.map(({ child, path }) => (
        <Children key={path} child={child} path={path} parent={collection} parentId={row.id} mayWrite={mayWrite} />
      ))}
      {tags.length > 0 && collection.info.path !== null && <Tags collection={collection} tags={tags} />}
    </section>
  );
}

/** Leads to the rows with the same tag. */
function Tags({ collection, tags }: { readonly collection: Collection; readonly tags: readonly string[] }) {
  return (
    <div className="card">
      <header>
        <h2>Same tag</h2>
      </header>
      <ul>
        {tags.map((tag) => (
          <li key={tag}>
            <Link to="/config/$entity" params={{ entity: collection.info.name }} search={{ tag }}>
              <span className="truncate">
                {collection.title} with {tag}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Referenced({
  field,
  target,
  id,
}: {
  readonly field: string;
  readonly target: Collection;
  readonly id: string;
}) {
  const { data } = useQuery({ ...rowQuery(target.info.path ?? '', id), enabled: target.info.path !== null });
  return (
    <div className="card">
      <header>
        <h2>{field}</h2>
      </header>
      <ul>
        <li>
          <Link to="/config/$entity/$id" params={{ entity: target.info.name, id }}>
            <span className="truncate">{data === undefined ? id : labelOf(data)}</span>
          </Link>
        </li>
      </ul>
    </div>
  );
}

interface ChildrenProps {
  readonly child: Collection;
  readonly path: string;
  readonly parent: Collection;
  readonly parentId: string;
  readonly mayWrite: boolean;
}

function Children({ child, path, parent, parentId, mayWrite }: ChildrenProps) {
  const { data, error } = useQuery(rowsQuery(path, maxShown));
  const place = { parent: parent.info.name, parentId };
  return (
    <div className="card">
      <header>
        <h2>
          {child.title}{' '}
          {data !== undefined && (
            <span className="badge">
              {data.rows.length}
              {data.complete ? '' : '+'}
            </span>
          )}
        </h2>
        {mayWrite && (
          <Link
            to="/config/$entity/new"
            params={{ entity: child.info.name }}
            search={place}
            className="button tight"
            aria-label={`Add ${child.one}`}
          >
            Add
          </Link>
        )}
      </header>
      {error !== null && <p className="empty muted">{error.message}</p>}
      {data !== undefined && data.rows.length === 0 && <p className="empty muted">None</p>}
      <ul>
        {(data?.rows ?? []).map((row) => (
          <li key={row.id}>
            <Link
              to="/config/$entity/$id"
              params={{ entity: child.info.name, id: row.id }}
              search={child.info.path === null ? place : {}}
            >
              <span className="truncate">{labelOf(row)}</span>
              <span className="truncate small muted">{summaryOf(child.info.name, row, noLabels)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

const noLabels: ReadonlyMap<string, string> = new Map();
