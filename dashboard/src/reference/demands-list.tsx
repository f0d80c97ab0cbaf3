import type { Demands } from './types.ts';

const number = new Intl.NumberFormat();
const size = new Intl.NumberFormat(undefined, { style: 'unit', unit: 'kilobyte', maximumFractionDigits: 1 });

/** What a client needs, and how much it may do. */
export function DemandsList({ demands }: { readonly demands: Demands }) {
  const { auth, limits, optional, needs, groups = null } = demands;
  return (
    <dl className="demands">
      <div>
        <dt>Authentication</dt>
        <dd>
          {auth.length === 0 && 'None'}
          {auth.map(({ plugin, title, places }, at) => (
            <span key={plugin}>
              {at > 0 && (needs === 'any' ? ' or ' : ' and ')}
              <strong>{title}</strong>
              {places.length > 0 && (
                <>
                  {' in '}
                  {places.map((place, index) => [index > 0 && ' or ', <code key={place}>{place}</code>])}
                </>
              )}
            </span>
          ))}
          {optional && <span className="muted"> (optional)</span>}
        </dd>
      </div>
      {groups !== null && (
        <div>
          <dt>Groups</dt>
          <dd>
            {groups.kind === 'allow' ? 'Only members of ' : 'No members of '}
            {groups.names.join(', ')}
          </dd>
        </div>
      )}
      <div>
        <dt>Limits</dt>
        <dd>{limits.length === 0 ? 'None' : limits.map(limitText).join(', ')}</dd>
      </div>
    </dl>
  );
}

function limitText({ limit, unit, per }: Demands['limits'][number]): string {
  if (unit === 'bytes') return `bodies up to ${size.format(limit / 1024)}`;
  return `${number.format(limit)} ${unit}${per === null ? '' : ` per ${per}`}`;
}
