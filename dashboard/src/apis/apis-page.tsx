import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { callerQuery, nodeQuery, type Row, rowsQuery } from '../api/queries.ts';
import { RelativeTime } from '../components/relative-time.tsx';
import { EmptyState, ErrorState, LoadingState } from '../components/states.tsx';
import { ImportPanel } from './import-panel.tsx';
import './apis.css';

/** The imported APIs, and the import. */
export function ApisPage() {
  const { data: caller } = useSuspenseQuery(callerQuery);
  const { data: node } = useSuspenseQuery(nodeQuery);
  const { data, error, refetch } = useQuery(rowsQuery('/apis'));
  const [importing, setImporting] = useState(false);
  const mayImport = caller.role !== 'read' && node.configuration['database'] !== 'off';
  return (
    <>
      <div className="page-head">
        <h1 className="grow">
          APIs {data !== undefined && <span className="badge">{data.rows.length.toLocaleString()}</span>}
        </h1>
        {mayImport && !importing && (
          <button type="button" className="button primary" onClick={() => setImporting(true)}>
            Import a document
          </button>
        )}
      </div>
      {importing && <ImportPanel onClose={() => setImporting(false)} />}
      {data === undefined && error === null && <LoadingState />}
      {data === undefined && error !== null && <ErrorState level={2} error={error} retry={() => void refetch()} />}
      {data !== undefined && data.rows.length === 0 && (
        <div className="card">
          <EmptyState level={2} title="No APIs yet">
            <p>
              An OpenAPI document becomes a service, its routes and their plugins, and is shown here as a reference.
              {!mayImport && ' Your role, or a node without a database, does not permit an import here.'}
            </p>
          </EmptyState>
        </div>
      )}
      {data !== undefined && data.rows.length > 0 && (
        <ul className="api-list" aria-label="APIs">
          {data.rows.map((row) => (
            <li key={row.id}>
              <ApiCard row={row} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function ApiCard({ row }: { readonly row: Row }) {
  const { id, name, title, version, tags, updated_at: updatedAt } = row;
  return (
    <Link to="/apis/$id" params={{ id }} className="card card-pad api-card">
      <strong>{typeof title === 'string' ? title : String(name)}</strong>
      <span className="row small">
        <span className="muted">{String(name)}</span>
        {typeof version === 'string' && <span className="badge accent">{version}</span>}
        {(tags ?? []).map((tag) => (
          <span key={tag} className="badge">
            {tag}
          </span>
        ))}
        {updatedAt !== undefined && (
          <span className="muted">
            <RelativeTime seconds={updatedAt} />
          </span>
        )}
      </span>
    </Link>
  );
}
