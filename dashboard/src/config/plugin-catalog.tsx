import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { schemaListQuery } from '../api/queries.ts';
import { EmptyState } from '../components/states.tsx';
import type { Parent } from './use-collection.ts';

const singular: Readonly<Record<string, string>> = { services: 'service', routes: 'route', consumers: 'consumer' };

/** The plugins of the node, to choose one for a new instance. */
export function PluginCatalog({ place }: { readonly place: Parent }) {
  const { data } = useSuspenseQuery(schemaListQuery);
  const [text, setText] = useState('');
  const scope = singular[place.parent ?? ''];
  const fitting = data.plugins.filter(({ scopes }) => scope === undefined || scopes.includes(scope));
  const shown = fitting.filter(({ name }) => name.includes(text.trim().toLowerCase()));
  return (
    <>
      <div className="page-head">
        <div className="grow">
          <p className="crumbs">
            <Link to="/config/$entity" params={{ entity: 'plugins' }}>
              Plugins
            </Link>
          </p>
          <h1>Choose a plugin</h1>
        </div>
      </div>
      <search className="toolbar">
        <input
          className="input"
          type="search"
          aria-label="Search plugins"
          placeholder="Search plugins"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </search>
      {shown.length === 0 && (
        <EmptyState level={2} title="Nothing matches">
          <p>No plugin of this node has that name.</p>
        </EmptyState>
      )}
      <ul className="catalog">
        {shown.map(({ name, scopes }) => (
          <li key={name}>
            <Link to="/config/$entity/new" params={{ entity: 'plugins' }} search={{ ...place, name }} className="card">
              <strong>{name}</strong>
              <span className="small muted">{scopes.length === 0 ? 'global' : `global, ${scopes.join(', ')}`}</span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}
