import { useState } from 'react';
import { RelativeTime } from '../components/relative-time.tsx';
import { type ApiSummary, type Me, type Usage, useRead } from './portal-client.ts';
import { Failure, Waiting } from './states.tsx';
import { UsageView } from './usage-view.tsx';

interface HomeProps {
  readonly consumerKey: string;
  readonly expired: () => void;
}

export function Home({ consumerKey, expired }: HomeProps) {
  const me = useRead<Me>('me', consumerKey, expired);
  return (
    <>
      <h1>{me.data === null ? 'Your APIs' : `Welcome, ${me.data.username ?? me.data.custom_id ?? 'consumer'}`}</h1>
      <Apis consumerKey={consumerKey} expired={expired} />
      <OwnUsage consumerKey={consumerKey} expired={expired} />
      <section aria-labelledby="keys">
        <h2 id="keys">Your keys</h2>
        {me.data === null && me.error === null && <Waiting />}
        {me.error !== null && <Failure error={me.error} again={me.again} />}
        {me.data !== null && <Keys keys={me.data.keys} />}
      </section>
    </>
  );
}

function Apis({ consumerKey, expired }: HomeProps) {
  const { data, error, again } = useRead<{ readonly data: readonly ApiSummary[] }>('apis', consumerKey, expired);
  return (
    <section aria-labelledby="apis">
      <h2 id="apis">APIs</h2>
      {data === null && error === null && <Waiting />}
      {error !== null && <Failure error={error} again={again} />}
      {data !== null && data.data.length === 0 && <p className="muted">There is no API that you may call.</p>}
      {data !== null && (
        <ul className="portal-apis">
          {data.data.map(({ id, name, title, version }) => (
            <li key={id}>
              <a href={`#/apis/${id}`} className="card card-pad">
                <strong>{title ?? name}</strong>
                {version !== null && <span className="badge accent">{version}</span>}
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function OwnUsage({ consumerKey, expired }: HomeProps) {
  const [range, setRange] = useState<'day' | 'month'>('day');
  const { data, error, again } = useRead<{ readonly usage: Usage | null }>(
    `usage?range=${range}`,
    consumerKey,
    expired,
  );
  return (
    <section aria-labelledby="usage">
      <div className="portal-section-head">
        <h2 id="usage">Your usage</h2>
        <select
          className="input"
          aria-label="Range"
          value={range}
          onChange={(event) => setRange(event.target.value === 'month' ? 'month' : 'day')}
        >
          <option value="day">Last 24 hours</option>
          <option value="month">Last 30 days</option>
        </select>
        <button type="button" className="button" onClick={again}>
          Refresh
        </button>
      </div>
      {data === null && error === null && <Waiting />}
      {error !== null && <Failure error={error} again={again} />}
      {data !== null && <UsageView usage={data.usage} />}
    </section>
  );
}

function Keys({ keys }: { readonly keys: Me['keys'] }) {
  return (
    <ul className="portal-keys">
      {keys.map(({ masked, created_at: createdAt, expires_at: expiresAt, current }) => (
        <li key={`${masked} ${createdAt}`} className="card card-pad">
          <code>{masked}</code>
          <span className="muted">
            created <RelativeTime seconds={createdAt} />
          </span>
          {expiresAt !== null && (
            <span className="badge warn">expires {new Date(expiresAt * 1000).toLocaleDateString()}</span>
          )}
          {current && <span className="badge ok">this session</span>}
        </li>
      ))}
    </ul>
  );
}
