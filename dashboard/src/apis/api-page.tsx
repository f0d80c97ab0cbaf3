import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { call } from '../api/client.ts';
import { nodeQuery } from '../api/queries.ts';
import { ErrorState, LoadingState } from '../components/states.tsx';
import { ReferenceView } from '../reference/reference-view.tsx';
import type { Operation, Reference } from '../reference/types.ts';

interface ShownReference extends Reference {
  readonly api: {
    readonly id: string;
    readonly name: string;
    readonly tags: readonly string[] | null;
    readonly portal: boolean;
    readonly service: { readonly id: string; readonly name: string | null };
  };
}

/** The reference of an API, as its consumers will see it, with links into the config. */
export function ApiPage() {
  const { id } = useParams({ from: '/apis/$id' });
  const { data, error, refetch } = useQuery({
    queryKey: ['reference', id],
    queryFn: ({ signal }) => call<ShownReference>('GET', `/apis/${encodeURIComponent(id)}/reference`, { signal }),
  });
  const { data: node } = useQuery(nodeQuery);
  const listeners = node?.configuration['portal_listeners'];
  const hasPortal = Array.isArray(listeners) && listeners.length > 0;
  if (data === undefined) {
    return error === null ? <LoadingState /> : <ErrorState error={error} retry={() => void refetch()} />;
  }
  const { api } = data;
  return (
    <>
      <div className="page-head">
        <div className="grow">
          <p className="crumbs">
            <Link to="/apis">APIs</Link>
          </p>
          <h1>{data.title ?? api.name}</h1>
          <p className="row small">
            {data.version !== null && <span className="badge accent">Version {data.version}</span>}
            {hasPortal && <span className="badge">{api.portal ? 'In the portal' : 'Not in the portal'}</span>}
            {(api.tags ?? []).map((tag) => (
              <span key={tag} className="badge">
                {tag}
              </span>
            ))}
            <Link to="/config/$entity/$id" params={{ entity: 'services', id: api.service.id }}>
              Service {api.service.name ?? api.service.id}
            </Link>
          </p>
        </div>
        <Link to="/config/$entity/$id" params={{ entity: 'apis', id: api.id }} className="button">
          Edit
        </Link>
      </div>
      <ReferenceView reference={data} linksOf={(operation) => <Links operation={operation} />} />
    </>
  );
}

function Links({ operation }: { readonly operation: Operation }) {
  const { method, path, hosts, route } = operation;
  const [host] = hosts.filter((name) => !name.includes('*'));
  return (
    <>
      {route === null || route === undefined ? (
        <span className="badge warn">No route carries this operation</span>
      ) : (
        <Link to="/config/$entity/$id" params={{ entity: 'routes', id: route.id }} className="button tight">
          Route {route.name ?? route.id}
        </Link>
      )}
      <Link
        to="/playground"
        search={{ method, url: host === undefined ? path : `http://${host}${path}` }}
        className="button tight"
      >
        Try it
      </Link>
    </>
  );
}
