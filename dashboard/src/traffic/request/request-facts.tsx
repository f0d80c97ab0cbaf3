import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { bytesText, durationText } from '../format.ts';
import type { OpenedRecord } from '../records.ts';
import { visibleText } from '../visible-text.ts';
import { WireText } from '../wire-text.tsx';

/** Who asked, where the request went, and how long it took. */
export function RequestFacts({ record }: { readonly record: OpenedRecord }) {
  const { route, service, consumer, client, host, duration, gateway, upstream, receive } = record;
  const upstreamName = record.explanation.service?.upstream ?? null;
  return (
    <section className="card" aria-label="In short">
      <dl className="facts">
        <Fact name="Client">
          <span className="mono">
            <WireText text={client} />
          </span>
        </Fact>
        <Fact name="Host">
          <span className="mono">
            <WireText text={host === '' ? 'none' : host} max={100} />
          </span>
        </Fact>
        <Fact name="Route">{route === null ? 'none' : <EntityLink entity="routes" {...route} />}</Fact>
        <Fact name="Service">{service === null ? 'none' : <EntityLink entity="services" {...service} />}</Fact>
        {upstreamName !== null && (
          <Fact name="Upstream">
            <EntityLink entity="upstreams" id={upstreamName} name={upstreamName} />
          </Fact>
        )}
        <Fact name="Consumer">
          {consumer === null ? (
            'none'
          ) : (
            <EntityLink entity="consumers" id={consumer.id} name={consumer.username ?? consumer.custom_id} />
          )}
        </Fact>
        <Fact name="Duration">{durationText(duration)}</Fact>
        <Fact name="Gateway">{durationText(gateway)}</Fact>
        {upstream !== null && <Fact name="Backend to its first byte">{durationText(upstream)}</Fact>}
        {receive !== null && <Fact name="From there to the end">{durationText(receive)}</Fact>}
        <Fact name="Received, sent">
          {bytesText(record.bytes_in)}, {bytesText(record.bytes_out)}
        </Fact>
        <Fact name="Request id">
          <span className="mono small">{visibleText(record.id)}</span>
        </Fact>
      </dl>
    </section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface EntityLinkProps {
  readonly entity: string;
  readonly id: string;
  readonly name: string | null;
}

export function EntityLink({ entity, id, name }: EntityLinkProps) {
  return (
    <Link to="/config/$entity/$id" params={{ entity, id }}>
      {visibleText(name ?? id)}
    </Link>
  );
}
