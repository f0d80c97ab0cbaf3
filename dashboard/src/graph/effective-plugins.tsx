import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Row, rowsQuery } from '../api/queries.ts';
import { ErrorState, LoadingState } from '../components/states.tsx';
import { labelOf } from '../config/labels.ts';
import { type EffectivePlugin, type EffectivePlugins, effectivePluginsQuery } from './graph-data.ts';

/** Consumers from which one is chosen. */
const maxConsumers = 1000;

/** Which instances run for the route and a consumer, and which do not, and why. */
export function EffectivePluginsView({ route }: { readonly route: Row }) {
  const [consumer, setConsumer] = useState('');
  const [authenticatedBy, setAuthenticatedBy] = useState('');
  const { data: consumers } = useQuery(rowsQuery('/consumers', maxConsumers));
  const { data, error, refetch } = useQuery(effectivePluginsQuery(route.id, consumer, authenticatedBy));
  return (
    <section className="card card-pad stack" aria-labelledby="effective-title">
      <h2 id="effective-title">Plugins that run</h2>
      <div className="toolbar effective-choices">
        <label>
          <span className="label-text">For</span>
          <select
            className="input"
            value={consumer}
            onChange={({ target }) => {
              setConsumer(target.value);
              setAuthenticatedBy('');
            }}
          >
            <option value="">nobody in particular</option>
            {(consumers?.rows ?? []).map((one) => (
              <option key={one.id} value={one.id}>
                {labelOf(one)}
              </option>
            ))}
          </select>
        </label>
        {consumer !== '' && (data?.authenticators.length ?? 0) > 1 && (
          <label>
            <span className="label-text">Identified by</span>
            <select
              className="input"
              value={data?.authenticated_by ?? ''}
              onChange={({ target }) => setAuthenticatedBy(target.value)}
            >
              {data?.authenticators.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        )}
      </div>
      {data === undefined && error === null && <LoadingState />}
      {error !== null && <ErrorState error={error} retry={() => void refetch()} level={2} />}
      {data !== undefined && <Instances plugins={data} isConsumer={consumer !== ''} />}
    </section>
  );
}

function Instances({ plugins, isConsumer }: { readonly plugins: EffectivePlugins; readonly isConsumer: boolean }) {
  const { data, shadowed, authenticated_by: authenticatedBy } = plugins;
  const names = new Map([...data, ...shadowed].map((plugin) => [plugin.id, plugin]));
  return (
    <>
      {isConsumer && authenticatedBy === null && (
        <p className="banner">No plugin of this route identifies consumers, so none of the consumer's plugins runs.</p>
      )}
      {data.length === 0 ? (
        <p className="muted">No plugin runs.</p>
      ) : (
        <ol className="effective-list" aria-label="In this order">
          {data.map((plugin) => (
            <li key={plugin.id}>
              <Instance plugin={plugin} />
              {plugin.name === authenticatedBy && <span className="badge accent">identifies the consumer</span>}
              {plugin.error !== null && (
                <span className="small">It cannot be set up, so it refuses all requests: {plugin.error}</span>
              )}
            </li>
          ))}
        </ol>
      )}
      {shadowed.length > 0 && (
        <details className="more">
          <summary>{shadowed.length === 1 ? '1 does not run' : `${shadowed.length} do not run`}</summary>
          <ul className="effective-list">
            {shadowed.map(({ because, by, ...plugin }) => {
              const winner = by === null ? undefined : names.get(by);
              return (
                <li key={plugin.id}>
                  <Instance plugin={plugin} />
                  <span className="small muted">
                    {because}
                    {winner !== undefined && `: that of ${scopeText(winner)}`}
                  </span>
                </li>
              );
            })}
          </ul>
        </details>
      )}
    </>
  );
}

function Instance({ plugin }: { readonly plugin: EffectivePlugin }) {
  return (
    <>
      <Link to="/config/$entity/$id" params={{ entity: 'plugins', id: plugin.id }}>
        {plugin.instance_name === null ? plugin.name : `${plugin.instance_name} (${plugin.name})`}
      </Link>
      <span className="badge">{scopeText(plugin)}</span>
    </>
  );
}

function scopeText({ scope }: EffectivePlugin): string {
  return scope.join(' and ');
}
