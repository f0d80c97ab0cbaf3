import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState, useSyncExternalStore } from 'react';
import { ApiError } from '../api/client.ts';
import { useEventStream } from '../api/event-stream.ts';
import { nodeQuery } from '../api/queries.ts';
import { ErrorState } from '../components/states.tsx';
import { Attention } from './attention.tsx';
import { type AttentionItem, attentionItems, unlisted } from './attention-items.tsx';
import { HistoryHeadline, LiveHeadline } from './headline.tsx';
import { Limits } from './limits.tsx';
import { LiveWindow, windowLength } from './live-window.ts';
import { NodeList, WorkerList } from './node-lists.tsx';
import {
  type Overview,
  type OverviewState,
  overviewQuery,
  type Summary,
  summaryQuery,
  type UsageRow,
} from './overview-data.ts';
import './overview.css';
import { AttentionBadge, RangeChoice, StreamBadge } from './overview-head.tsx';
import { type HistoryRange, historyRanges, type SortName } from './ranges.ts';
import { Ranking, SortChoice } from './rankings.tsx';
import { StatusMix } from './status-mix.tsx';

/** What is going on now, and what needs attention. */
export function OverviewPage() {
  const search = useSearch({ from: '/' });
  const navigate = useNavigate({ from: '/' });
  const [live] = useState(() => new LiveWindow());
  const stream = useEventStream(`/overview/live?history=${windowLength}`, live.received);
  useSyncExternalStore(live.subscribe, () => live.version);
  const { data: overview } = useQuery(overviewQuery);
  const { data: node } = useQuery(nodeQuery);
  // A control plane carries no requests: what its data planes did is in analytics.
  const isControlPlane = (overview?.node.role ?? node?.configuration['role']) === 'control_plane';
  const rangeName = search.range ?? (isControlPlane ? '1h' : 'live');
  const range = historyRanges.find(({ name }) => name === rangeName) ?? null;
  const sort = search.sort ?? 'requests';
  const state = live.state ?? overview ?? null;
  const items = state === null ? null : attentionItems(state, overview, live.totals().shed);

  if (stream.state === 'refused' && live.latest === null) return <ErrorState error={stream.error} />;
  return (
    <div className="ov">
      <div className="page-head ov-head">
        <h1>Overview</h1>
        <StreamBadge state={stream.state} error={stream.error} last={live.latest?.time ?? null} />
        <AttentionBadge items={items} />
        <span className="grow" />
        <RangeChoice
          value={rangeName}
          onChange={(next) => void navigate({ search: (before) => ({ ...before, range: next }), replace: true })}
        />
      </div>
      {isControlPlane && (
        <p className="banner ov-banner">
          This is a control plane: it carries no requests. The numbers of a range are those of its data planes.
        </p>
      )}
      {range === null ? (
        <LiveView live={live} overview={overview} state={state} items={items} sort={sort} onSort={changeSort} />
      ) : (
        <HistoryView range={range} overview={overview} state={state} items={items} sort={sort} onSort={changeSort} />
      )}
    </div>
  );

  function changeSort(next: SortName): void {
    void navigate({ search: (before) => ({ ...before, sort: next }), replace: true });
  }
}

interface ViewProps {
  readonly overview: Overview | undefined;
  readonly state: OverviewState | null;
  readonly items: readonly AttentionItem[] | null;
  readonly sort: SortName;
  readonly onSort: (sort: SortName) => void;
}

function LiveView({ live, overview, state, items, sort, onSort }: ViewProps & { readonly live: LiveWindow }) {
  const usage = overview?.usage ?? null;
  const period = 'the last two minutes';
  const lists: UsageLists | null =
    usage === null
      ? null
      : {
          routes: usage.routes[`by_${sort}`],
          services: usage.services[`by_${sort}`],
          consumers: usage.consumers[`by_${sort}`],
          statuses: usage.statuses,
          limited: usage.limited,
        };
  return (
    <>
      <LiveHeadline live={live} overview={overview} />
      <AttentionOf state={state} items={items} />
      <Usage
        lists={lists}
        pending={overview === undefined}
        period={period}
        sort={sort}
        onSort={onSort}
        state={state}
        overview={overview}
      />
    </>
  );
}

function HistoryView({ range, overview, state, items, sort, onSort }: ViewProps & { readonly range: HistoryRange }) {
  const { data: summary, error, refetch } = useQuery(summaryQuery(range, sort));
  const off = error instanceof ApiError && error.status === 404;
  return (
    <>
      {summary !== undefined ? (
        <HistoryHeadline summary={summary} range={range} />
      ) : off ? (
        <div className="card">
          <div className="state">
            <h2>The past is not counted</h2>
            <p>
              The setting <code>analytics</code> is <code>off</code>, so only the live numbers are there. Set it to{' '}
              <code>on</code> to count requests by route, service, consumer and status.
            </p>
          </div>
        </div>
      ) : error !== null ? (
        <div className="card">
          <ErrorState level={2} error={error} retry={() => void refetch()} />
        </div>
      ) : (
        <PanelSkeletons />
      )}
      <AttentionOf state={state} items={items} />
      <Usage
        lists={summary ?? null}
        pending={summary === undefined && error === null}
        failed={error !== null && !off}
        period={range.period}
        sort={sort}
        onSort={onSort}
        state={state}
        overview={overview}
      />
    </>
  );
}

function PanelSkeletons() {
  return (
    <div className="ov-panels" role="status" aria-label="Loading the numbers">
      {['requests', 'errors', 'latency'].map((name) => (
        <div key={name} className="card ov-panel ov-panel-empty">
          <div className="skeleton" style={{ width: '6rem' }} />
          <div className="skeleton" style={{ width: '9rem' }} />
        </div>
      ))}
    </div>
  );
}

const partNames: Readonly<Partial<Record<keyof OverviewState, string>>> = {
  nodes: 'nodes',
  certificates: 'certificates',
  database: 'database',
};

function AttentionOf({ state, items }: Pick<ViewProps, 'state' | 'items'>) {
  const unknown =
    state === null
      ? []
      : Object.entries(partNames).flatMap(([part, name]) =>
          state[part as keyof OverviewState] === null ? [name] : [],
        );
  return <Attention items={items} more={state === null ? 0 : unlisted(state)} unknown={unknown} />;
}

type UsageLists = Pick<Summary, 'routes' | 'services' | 'consumers' | 'statuses' | 'limited'>;

interface UsageProps extends Pick<ViewProps, 'sort' | 'onSort' | 'state' | 'overview'> {
  /** Null: not known. */
  readonly lists: UsageLists | null;
  readonly pending: boolean;
  readonly failed?: boolean;
  readonly period: string;
}

/** Who uses the gateway, and how its threads and nodes are. */
function Usage({ lists, pending, failed = false, period, sort, onSort, state, overview }: UsageProps) {
  const { data: node } = useQuery(nodeQuery);
  const off = node?.configuration['analytics'] === false;
  return (
    <>
      <div className="ov-section">
        <h2>Who and what</h2>
        <span className="muted">in {period}</span>
        {lists !== null && <SortChoice sort={sort} onChange={onSort} />}
      </div>
      {lists === null && !failed && (
        <p className="card ov-none ov-alone" role="status">
          {pending ? (
            'Loading the routes, services and consumers…'
          ) : off ? (
            <>
              Routes, services and consumers are not counted: the setting <code>analytics</code> is <code>off</code>.
            </>
          ) : (
            'The gateway could not read in time who uses it.'
          )}
        </p>
      )}
      <div className="ov-lists">
        {lists !== null && <UsageTables lists={lists} period={period} sort={sort} />}
        <Limits hits={state?.limits ?? null} limited={lists?.limited ?? null} period={period} />
        <WorkerList workers={state?.workers ?? null} />
        <NodeList
          nodes={state?.nodes ?? null}
          own={overview?.node.id ?? null}
          version={state?.config?.version ?? null}
        />
      </div>
    </>
  );
}

interface UsageTablesProps {
  readonly lists: UsageLists;
  readonly period: string;
  readonly sort: SortName;
}

function UsageTables({ lists, period, sort }: UsageTablesProps) {
  const ranked: Readonly<Record<'routes' | 'services' | 'consumers', readonly UsageRow[]>> = lists;
  return (
    <>
      <Ranking kind="routes" sort={sort} rows={ranked.routes} period={period} />
      <Ranking kind="services" sort={sort} rows={ranked.services} period={period} />
      <Ranking kind="consumers" sort={sort} rows={ranked.consumers} period={period} />
      <StatusMix rows={lists.statuses} period={period} />
    </>
  );
}
