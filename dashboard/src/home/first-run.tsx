import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api/client.ts';
import { nodeQuery, type Row } from '../api/queries.ts';
import { useCollection } from '../config/use-collection.ts';

/** The first steps on a gateway without a config, with an example that works without a backend. */
export function FirstRun() {
  const view = useCollection('routes');
  const [example, setExample] = useState<{ readonly route: Row; readonly requests: number } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);

  async function create(): Promise<void> {
    setProblem(null);
    try {
      const requests = await countRequests();
      const route = await call<Row>('POST', '/routes', { body: { name: 'hello', paths: ['/hello'] } });
      await call('POST', `/routes/${route.id}/plugins`, {
        body: { name: 'request-termination', config: { status_code: 200, message: 'The gateway works' } },
      });
      setExample({ route, requests });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }

  return (
    <div className="stack">
      <div>
        <h1>This gateway is empty</h1>
        <p className="muted">A service is a backend, and a route decides which requests go to it.</p>
      </div>
      <section className="card card-pad stack" aria-labelledby="own">
        <h2 id="own">Add your first service</h2>
        <p>Enter where your backend is. Then add a route to the service, such as the path /orders.</p>
        {view?.mayWrite === true ? (
          <div>
            <Link to="/config/$entity/new" params={{ entity: 'services' }} className="button primary">
              New service
            </Link>
          </div>
        ) : (
          <p className="banner">You may not add a service here.</p>
        )}
        <p className="small muted">With the Admin API:</p>
        <pre className="code">{`curl ${adminUrl()}/services -d name=orders -d url=http://127.0.0.1:9001
curl ${adminUrl()}/services/orders/routes -d 'paths[]=/orders'`}</pre>
      </section>
      {view?.mayWrite === true && (
        <section className="card card-pad stack" aria-labelledby="example">
          <h2 id="example">Or try an example</h2>
          <p>A route for /hello that the gateway answers itself, so it needs no backend.</p>
          {example === null ? (
            <div>
              <button type="button" className="button" onClick={() => void create()}>
                Create the example
              </button>
            </div>
          ) : (
            <FirstRequest route={example.route} before={example.requests} />
          )}
          {problem !== null && (
            <p className="banner error" role="alert">
              {problem}
            </p>
          )}
        </section>
      )}
    </div>
  );
}

/** Watches until the first request arrives. */
function FirstRequest({ route, before }: { readonly route: Row; readonly before: number }) {
  const { data: node } = useSuspenseQuery(nodeQuery);
  const { data: now = before } = useQuery({
    queryKey: ['requests'],
    queryFn: countRequests,
    refetchInterval: ({ state }) => ((state.data ?? before) > before ? false : 1000),
  });
  return (
    <>
      <p>The route is there. Send a request:</p>
      <pre className="code">curl -i {proxyUrl(node.configuration)}/hello</pre>
      {now > before ? (
        <p className="banner ok" role="status">
          The first request has arrived.
        </p>
      ) : (
        <p className="banner" role="status">
          Waiting for the first request…
        </p>
      )}
      <div>
        <Link to="/config/$entity/$id" params={{ entity: 'routes', id: route.id }} className="button">
          Show the route
        </Link>
      </div>
    </>
  );
}

async function countRequests(): Promise<number> {
  const { server } = await call<{ readonly server: { readonly total_requests: number } }>('GET', '/status');
  return server.total_requests;
}

function adminUrl(): string {
  return new URL('api', document.baseURI).href;
}

/** The first listener without TLS, on the host at which the browser reaches the dashboard. */
function proxyUrl({ proxy_listeners: listeners }: Readonly<Record<string, unknown>>): string {
  const all = Array.isArray(listeners)
    ? (listeners as readonly { readonly port: number; readonly ssl: boolean }[])
    : [];
  const listener = all.find(({ ssl }) => !ssl) ?? all[0];
  return `${listener?.ssl === true ? 'https' : 'http'}://${location.hostname}:${listener?.port ?? 8000}`;
}
