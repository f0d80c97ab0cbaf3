import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { schemaListQuery } from '../api/queries.ts';
import { DifferenceList, WholeEntity } from '../changes/difference-list.tsx';
import { differencesOf } from '../changes/differences.ts';
import { allCollections } from '../config/collections.ts';
import { labelOf } from '../config/labels.ts';
import { maxShown, type ShownChange, type ShownChanges } from './queries.ts';
import { countsText } from './version-summary.ts';

const verbs = { create: 'Created', update: 'Changed', delete: 'Deleted' } as const;
const tones = { create: 'badge ok', update: 'badge accent', delete: 'badge danger' } as const;

/** Entities that differ, each with its fields. */
export function ChangeList({ shown }: { readonly shown: Omit<ShownChanges, 'truncated'> & { truncated: boolean } }) {
  const { data: schemas } = useSuspenseQuery(schemaListQuery);
  const collections = allCollections(schemas);
  return (
    <div className="stack">
      <p className="muted">{countsText(shown)}</p>
      {shown.changes.map((change) => {
        const collection = collections.find(({ info }) => info.name === change.entity);
        const exists = change.operation !== 'delete' && collection?.info.path != null;
        const label = nameOf(change);
        return (
          <section
            key={`${change.entity} ${change.id}`}
            className="card card-pad"
            aria-label={`${change.entity} ${label}`}
          >
            <h2 className="change-title">
              <span className={tones[change.operation]}>{verbs[change.operation]}</span>{' '}
              {collection?.one ?? change.entity}{' '}
              {exists ? (
                <Link to="/config/$entity/$id" params={{ entity: change.entity, id: change.id }}>
                  {label}
                </Link>
              ) : (
                label
              )}
            </h2>
            {change.operation === 'update' ? (
              <DifferenceList differences={differencesOf(change.before, change.after)} />
            ) : (
              <WholeEntity differences={differencesOf(change.before, change.after)} />
            )}
          </section>
        );
      })}
      {shown.truncated && <p className="banner">Only the first {maxShown} entities are shown.</p>}
    </div>
  );
}

function nameOf({ label, before, after, id }: ShownChange): string {
  if (label !== undefined) return label;
  const named = labelOf({ id, ...(before ?? {}), ...(after ?? {}) });
  return named;
}
