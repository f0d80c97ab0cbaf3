import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../../api/client.ts';
import { nodeQuery } from '../../api/queries.ts';
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx';
import { momentText, statusClass } from '../format.ts';
import { lastList } from '../last-list.ts';
import { type OpenedRecord, readTraffic, requestQuery } from '../records.ts';
import { CurlPanel } from './curl-panel.tsx';
import { RequestAnswer } from './request-answer.tsx';
import { RequestAttempts } from './request-attempts.tsx';
import { RequestFacts } from './request-facts.tsx';
import { RequestMessage } from './request-message.tsx';
import { RequestPlugins } from './request-plugins.tsx';
import { RequestRouting } from './request-routing.tsx';
import { RequestTimeline } from './request-timeline.tsx';
import '../traffic.css';
import { WireText } from '../wire-text.tsx';
import { WhyBox } from './why-box.tsx';

/** One recorded request, and what happened to it. */
export function RequestPage() {
  const { id } = useParams({ from: '/traffic/$id' });
  const { data, error, isPending, refetch } = useQuery(requestQuery(id));
  if (isPending) return <LoadingState label="Loading the request" />;
  if (data !== undefined) return <OpenedRequest key={id} record={data} />;
  if (error instanceof ApiError && error.status === 404) return <NotRecorded />;
  return <ErrorState error={error} retry={() => void refetch()} />;
}

function OpenedRequest({ record }: { readonly record: OpenedRecord }) {
  const { explanation, method, path, status, at, traced, aborted } = record;
  const { request, summary, why } = explanation;
  const [curl, setCurl] = useState(false);
  return (
    <div className="request-page">
      <RequestNavigation id={record.id} />
      <div className="page-head">
        <h1 className="grow">
          <span className={`badge mono ${statusClass(status)}`}>{status}</span>
          <span className="mono">
            <WireText text={method} max={40} /> <WireText text={path} max={200} />
          </span>
        </h1>
        <Link to="/playground" search={{ request: record.id }} className="button primary">
          Replay
        </Link>
        {request !== undefined && (
          <button type="button" className="button" aria-expanded={curl} onClick={() => setCurl(!curl)}>
            Copy as curl
          </button>
        )}
      </div>
      {summary !== undefined && (
        <p className="summary">
          <WireText text={summary} />
          {'. '}
          <time dateTime={at}>{momentText(at)}</time>
        </p>
      )}
      {curl && request !== undefined && <CurlPanel request={request} />}
      {why !== undefined && why !== null && <WhyBox why={why} status={status} />}
      {aborted && <p className="banner">The client disconnected before the answer was complete.</p>}
      {explanation.truncated === true && (
        <p className="banner">The explanation was too long to be recorded: the parts that took most are left out.</p>
      )}
      <RequestFacts record={record} />
      {traced ? (
        explanation.timeline != null && <RequestTimeline record={record} timeline={explanation.timeline} />
      ) : (
        <p className="banner">
          This request has no timeline: it was selected at its end, because it is an error and the recorder was at its
          rate. What plugins did, and how long each step took, was not noted.
        </p>
      )}
      {explanation.router !== undefined && <RequestRouting router={explanation.router} />}
      {explanation.plugins != null && <RequestPlugins plugins={explanation.plugins} />}
      {explanation.balancer != null && explanation.attempts != null && (
        <RequestAttempts explanation={explanation} attempts={explanation.attempts} choices={explanation.balancer} />
      )}
      <div className="two-columns">
        {request !== undefined && <RequestMessage request={request} upstream={explanation.upstream_request ?? null} />}
        {explanation.answer !== undefined && <RequestAnswer answer={explanation.answer} explanation={explanation} />}
      </div>
    </div>
  );
}

/** Back to the list with its filters, and to the requests before and after in it. */
function RequestNavigation({ id }: { readonly id: string }) {
  const list = lastList();
  const known = list?.ids.includes(id) === true;
  const { data } = useQuery({
    queryKey: ['traffic-ids'],
    queryFn: async ({ signal }) => (await readTraffic('', signal)).data.map((one) => one.id),
    enabled: !known,
  });
  const ids = known ? list.ids : (data ?? []);
  const at = ids.indexOf(id);
  const newer = at > 0 ? ids[at - 1] : undefined;
  const older = at >= 0 ? ids[at + 1] : undefined;
  return (
    <nav aria-label="Requests" className="row small">
      <Link to="/traffic" search={known ? list.search : {}}>
        All requests
      </Link>
      <NeighbourLink id={newer} text="← Newer" />
      <NeighbourLink id={older} text="Older →" />
    </nav>
  );
}

function NeighbourLink({ id, text }: { readonly id: string | undefined; readonly text: string }) {
  if (id === undefined) return <span className="muted">{text}</span>;
  return (
    <Link to="/traffic/$id" params={{ id }}>
      {text}
    </Link>
  );
}

function NotRecorded() {
  const { data: node } = useSuspenseQuery(nodeQuery);
  const { traffic_recorder: kept } = node.configuration;
  return (
    <EmptyState title="This request is not recorded">
      <p>
        The recorder keeps the last {typeof kept === 'number' && kept > 0 ? kept.toLocaleString() : '1,000'} requests of
        this node while somebody looks, or as many as <code>traffic_recorder</code> says. This one is not among them.
      </p>
      <Link to="/traffic" className="button">
        All requests
      </Link>
    </EmptyState>
  );
}
