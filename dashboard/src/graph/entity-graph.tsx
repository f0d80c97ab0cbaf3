import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { nodeQuery, type Row, rowQuery, rowsQuery } from '../api/queries.ts';
import { labelOf, summaryOf } from '../config/labels.ts';
import { exampleUrl } from '../playground/route-example.ts';
import { EffectivePluginsView } from './effective-plugins.tsx';
import './graph.css';
import { GraphColumn, GraphNode } from './graph-column.tsx';
import { backendsQuery, effectivePluginsQuery, type ShownTarget } from './graph-data.ts';

/** The way of requests through a route or a service: plugins in the order in which they run, service, upstream, targets. */
export function EntityGraph({ entity, row }: { readonly entity: string; readonly row: Row }) {
  if (entity === 'routes') return <RouteGraph route={row} />;
  return entity === 'services' ? <ServiceGraph service={row} /> : null;
}

function RouteGraph({ route }: { readonly route: Row }) {
  const { id: serviceId } = Object(route['service']) as { readonly id?: string };
  const { data: service } = useQuery({ ...rowQuery('/services', serviceId ?? ''), enabled: serviceId !== undefined });
  const { data: plugins, error } = useQuery(effectivePluginsQuery(route.id));
  return (
    <>
      <Picture action={<TryLink route={route} />}>
        <GraphColumn title="Route">
          <GraphNode entity="routes" id={route.id} name={labelOf(route)} text={ruleOf(route)} isSelf />
        </GraphColumn>
        <GraphColumn title="Plugins" empty={error === null ? 'none' : error.message}>
          {(plugins?.data ?? []).map((plugin) => (
            <GraphNode
              key={plugin.id}
              entity="plugins"
              id={plugin.id}
              name={plugin.instance_name ?? plugin.name}
              text={plugin.scope.join(' and ')}
              {...(plugin.error === null ? {} : { badge: { text: 'refuses all', kind: 'danger' } })}
            />
          ))}
        </GraphColumn>
        <ServiceColumns service={serviceId === undefined ? null : service} />
      </Picture>
      <EffectivePluginsView route={route} />
    </>
  );
}

/** To the playground, with a request that the route matches. */
function TryLink({ route }: { readonly route: Row }) {
  const [method = 'GET'] = Array.isArray(route['methods']) ? route['methods'].map(String) : [];
  return (
    <Link to="/playground" search={{ method, url: exampleUrl(route).url }} className="button tight">
      Try it
    </Link>
  );
}

/** Routes and plugins that the picture contains. */
const maxShown = 20;

function ServiceGraph({ service }: { readonly service: Row }) {
  const { data: routes } = useQuery(rowsQuery(`/services/${service.id}/routes`, maxShown));
  const { data: plugins } = useQuery(rowsQuery(`/services/${service.id}/plugins`, maxShown));
  const { data: node } = useQuery(nodeQuery);
  const priorityOf = (plugin: Row): number => {
    const { priority } = Object(node?.plugins.available_on_server[String(plugin['name'])]) as {
      readonly priority?: number;
    };
    return priority ?? 0;
  };
  return (
    <Picture>
      <GraphColumn title="Routes" empty="none" more={routes?.complete === false}>
        {(routes?.rows ?? []).map((route) => (
          <GraphNode key={route.id} entity="routes" id={route.id} name={labelOf(route)} text={ruleOf(route)} />
        ))}
      </GraphColumn>
      <GraphColumn title="Plugins of the service" empty="none" more={plugins?.complete === false}>
        {[...(plugins?.rows ?? [])]
          .sort((a, b) => priorityOf(b) - priorityOf(a))
          .map((plugin) => (
            <GraphNode
              key={plugin.id}
              entity="plugins"
              id={plugin.id}
              name={labelOf(plugin)}
              {...(plugin.enabled === false ? { badge: { text: 'off', kind: 'warn' } } : {})}
            />
          ))}
      </GraphColumn>
      <ServiceColumns service={service} />
    </Picture>
  );
}

const none: ReadonlyMap<string, string> = new Map();

/** Which requests match, without the service, which has its own node. */
function ruleOf(route: Row): string {
  return summaryOf('routes', route, none).replace(/\s*→.*$/, '');
}

function Picture({ children, action }: { readonly children: ReactNode; readonly action?: ReactNode }) {
  return (
    <section className="card card-pad stack" aria-labelledby="graph-title">
      <div className="graph-head">
        <h2 id="graph-title">The way of a request</h2>
        {action}
      </div>
      <ol className="graph">{children}</ol>
    </section>
  );
}

/** `service`: null: the route has none; undefined: it is loading. */
function ServiceColumns({ service }: { readonly service: Row | null | undefined }) {
  const host = String(service?.['host'] ?? '');
  const { data: backends } = useQuery({ ...backendsQuery(host), enabled: service != null });
  if (service === null) {
    return (
      <GraphColumn title="Service" empty="None: only a plugin can answer">
        {[]}
      </GraphColumn>
    );
  }
  if (service === undefined) return <GraphColumn title="Service">{[]}</GraphColumn>;
  const address = `${host}:${service['port']}`;
  const upstream = backends?.upstream ?? null;
  return (
    <>
      <GraphColumn title="Service">
        <GraphNode
          entity="services"
          id={service.id}
          name={labelOf(service)}
          text={`${service['protocol']}://${address}${service['path'] ?? ''}`}
          {...(service.enabled === false ? { badge: { text: 'off', kind: 'warn' } } : {})}
        />
      </GraphColumn>
      {backends !== undefined && upstream === null && (
        <GraphColumn title="Backend">
          <GraphNode name={address} />
        </GraphColumn>
      )}
      {upstream !== null && (
        <>
          <GraphColumn title="Upstream">
            <GraphNode
              entity="upstreams"
              id={upstream.id}
              name={labelOf(upstream)}
              text={summaryOf('upstreams', upstream, none)}
            />
          </GraphColumn>
          <GraphColumn title="Targets" empty="None: requests are answered with 503">
            {(backends?.targets ?? []).map((target) => (
              <GraphNode
                key={target.id}
                entity="targets"
                id={target.id}
                place={{ parent: 'upstreams', parentId: upstream.id }}
                name={target.target}
                text={`weight ${target.weight}`}
                {...healthBadge(target)}
              />
            ))}
          </GraphColumn>
        </>
      )}
    </>
  );
}

const healthTexts: Readonly<Record<string, { readonly text: string; readonly kind: string }>> = {
  HEALTHY: { text: 'healthy', kind: 'ok' },
  UNHEALTHY: { text: 'unhealthy', kind: 'danger' },
  DNS_ERROR: { text: 'no address', kind: 'danger' },
  HEALTHCHECKS_OFF: { text: 'not checked', kind: '' },
};

function healthBadge({ health }: ShownTarget) {
  return health === null ? {} : { badge: healthTexts[health] ?? { text: health.toLowerCase(), kind: '' } };
}
