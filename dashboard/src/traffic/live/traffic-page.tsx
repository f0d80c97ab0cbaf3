import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, OfflineError } from '../../api/client.ts';
import { callerQuery, nodeQuery } from '../../api/queries.ts';
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx';
import type { TrafficSearch } from '../../router.tsx';
import { countText } from '../format.ts';
import { rememberList } from '../last-list.ts';
import { proxyUrl } from '../request/proxy-address.ts';
import { filterQuery, hasFilter } from './filter-query.ts';
import { droppedText, rateText } from './rate-text.ts';
import { maxRecords } from './tail-buffer.ts';
import '../traffic.css';
import { visibleText } from '../visible-text.ts';
import { TrafficFilters } from './traffic-filters.tsx';
import { TrafficList } from './traffic-list.tsx';
import { type TrafficTail, useTrafficTail } from './use-traffic-tail.ts';

/** Requests as they end. */
export function TrafficPage() {
  const search = useSearch({ from: '/traffic' });
  const navigate = useNavigate({ from: '/traffic' });
  const [paused, setPaused] = useState(false);
  const [atTop, setAtTop] = useState(true);
  const scroller = useRef<HTMLDivElement>(null);
  const mayRecord = useMayRecordBodies();
  const [bodies, setBodies] = useState(false);
  const filters = filterQuery(search);
  const query = bodies ? [filters, `bodies=${bodyBytes}`].filter((part) => part !== '').join('&') : filters;
  const tail = useTrafficTail(query, paused || !atTop);
  const toggle = useCallback(() => setPaused((before) => !before), []);
  useSpaceKey(toggle);
  useEffect(() => rememberList({ search, ids: tail.records.map(({ id }) => id) }), [search, tail.records]);
  const problems = filterProblems(tail.error);
  const noTraffic = tail.state === 'refused' && Object.keys(problems).length === 0;

  function change(next: TrafficSearch): void {
    setAtTop(true);
    void navigate({ search: next, replace: true });
  }

  function showWaiting(): void {
    tail.showWaiting();
    scroller.current?.scrollTo(0, 0);
    setAtTop(true);
  }

  if (noTraffic) {
    return (
      <>
        <h1>Traffic</h1>
        <Refused error={tail.error} />
      </>
    );
  }
  return (
    <div className="traffic">
      <div className="page-head">
        <h1 className="grow">Traffic</h1>
        <TailState tail={tail} held={paused ? 'paused' : atTop ? null : 'held'} />
        {mayRecord && (
          <label className="chip-check" title="What clients and backends send, as long as this page is open">
            <input type="checkbox" checked={bodies} onChange={({ target }) => setBodies(target.checked)} /> Record
            bodies
          </label>
        )}
        <button type="button" className="button" onClick={toggle} aria-keyshortcuts="Space">
          {paused ? 'Continue' : 'Pause'} <span className="key">space</span>
        </button>
      </div>
      <TrafficFilters search={search} change={change} problems={problems} />
      <p className="tail-line small" role="status">
        {tail.waiting > 0 && (paused || !atTop) ? (
          <button type="button" className="button tight" onClick={showWaiting}>
            Show {tail.waiting >= maxRecords ? `the last ${countText(maxRecords)}` : countText(tail.waiting)} new
          </button>
        ) : null}
        {tail.dropped > 0 && <span className="badge warn">{droppedText(tail.dropped)}</span>}
      </p>
      <TailContent
        tail={tail}
        filtered={hasFilter(search)}
        clear={() => change({})}
        scroller={scroller}
        setAtTop={setAtTop}
      />
    </div>
  );
}

/** Bytes of each body. */
const bodyBytes = 16_384;

/** Bodies are data of clients: recording and seeing them needs the role edit, on all entities. */
function useMayRecordBodies(): boolean {
  const { data: caller } = useSuspenseQuery(callerQuery);
  const { data: node } = useSuspenseQuery(nodeQuery);
  const isKnown = node.configuration['traffic_recorder_bodies'] !== undefined;
  return isKnown && caller.role !== 'read' && caller.tag_patterns === null;
}

interface TailContentProps {
  readonly tail: TrafficTail;
  readonly filtered: boolean;
  readonly clear: () => void;
  readonly scroller: React.RefObject<HTMLDivElement | null>;
  readonly setAtTop: (atTop: boolean) => void;
}

function TailContent({ tail, filtered, clear, scroller, setAtTop }: TailContentProps) {
  const { records, ready, error, state } = tail;
  if (records.length > 0) return <TrafficList records={records} scroller={scroller} atTop={setAtTop} />;
  if (state === 'refused')
    return (
      <EmptyState level={2} title="The filter is not valid">
        {null}
      </EmptyState>
    );
  if (error instanceof OfflineError || (error !== null && state === 'offline'))
    return <ErrorState level={2} error={error} />;
  if (!ready) return <LoadingState label="The recorder is starting" />;
  if (!filtered) return <NoTraffic />;
  return (
    <div className="card">
      <EmptyState level={2} title="Nothing matches the filters yet">
        <p>Requests that match appear here as they end.</p>
        <button type="button" className="button" onClick={clear}>
          Clear filters
        </button>
      </EmptyState>
    </div>
  );
}

/** How much of the traffic is shown, and whether it still arrives. */
function TailState({
  tail: { state, rate },
  held,
}: {
  readonly tail: TrafficTail;
  readonly held: 'paused' | 'held' | null;
}) {
  const [name, text] =
    state === 'offline'
      ? (['off', 'Interrupted; the page reconnects by itself'] as const)
      : state === 'refused'
        ? (['off', 'Not recording'] as const)
        : state === 'connecting' || rate === null
          ? (['starting', 'The recorder is starting'] as const)
          : ([held ?? 'live', rateText(rate)] as const);
  return (
    <p className="tail-state small">
      <span className={`dot ${name}`} aria-hidden="true" />
      <span
        className="badge"
        title={name === 'held' ? 'New requests wait while you are on a line, or further down.' : undefined}
      >
        {titles[name]}
      </span>{' '}
      {text}
    </p>
  );
}

const titles = { live: 'Live', paused: 'Paused', held: 'Held', starting: 'Starting', off: 'Off' } as const;

function NoTraffic() {
  const { data: node } = useSuspenseQuery(nodeQuery);
  return (
    <div className="card">
      <EmptyState level={2} title="No requests yet">
        <p>Send one to the gateway, and it appears here as it ends:</p>
        <pre className="code">curl -i {proxyUrl(node.configuration)}/</pre>
        <p className="small">
          The recorder is on while this page is open. Set <code>traffic_recorder</code> to keep requests at all times.
        </p>
      </EmptyState>
    </div>
  );
}

function Refused({ error }: { readonly error: Error | null }) {
  if (!(error instanceof ApiError) || error.status !== 400) return <ErrorState level={2} error={error} />;
  return (
    <div className="card">
      <EmptyState level={2} title="This node records no traffic">
        <p>{visibleText(error.message)}</p>
      </EmptyState>
    </div>
  );
}

/** Messages of the Admin API about filters, by the name of the filter. */
function filterProblems(error: Error | null): Readonly<Record<string, string>> {
  if (!(error instanceof ApiError) || error.status !== 400) return {};
  return Object.fromEntries(
    Object.entries(error.fields).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

/** Space, unless it is meant for the element that has the focus. */
function useSpaceKey(pressed: () => void): void {
  useEffect(() => {
    const keyDown = (event: KeyboardEvent): void => {
      if (event.key !== ' ' || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
      const own = 'input, textarea, select, button, summary, [contenteditable], [role="dialog"]';
      if (event.target instanceof Element && event.target.closest(own) !== null) return;
      event.preventDefault();
      pressed();
    };
    document.addEventListener('keydown', keyDown);
    return () => document.removeEventListener('keydown', keyDown);
  }, [pressed]);
}
