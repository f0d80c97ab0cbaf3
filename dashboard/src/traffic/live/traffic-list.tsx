import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, type RefObject, useEffect } from 'react';
import { bytesText, durationText, momentText, statusClass, timeText } from '../format.ts';
import type { TrafficRecord } from '../records.ts';
import { beginningOf, visibleText } from '../visible-text.ts';
import { WireText } from '../wire-text.tsx';
import { useNarrow } from './use-narrow.ts';

interface TrafficListProps {
  readonly records: readonly TrafficRecord[];
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** The reader only watches the newest records; false: is further down, or on one of them with the keyboard or the mouse. */
  readonly atTop: (atTop: boolean) => void;
}

/** Characters of a path that fit. */
const maxPath = 300;

/** Records of any number: only those in view are in the document. */
export function TrafficList({ records, scroller, atTop }: TrafficListProps) {
  // As in the style sheet, where narrow pages have two lines in a row.
  const height = useNarrow() ? 62 : 34;
  const virtual = useVirtualizer({
    count: records.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => records[index]?.id ?? index,
    estimateSize: () => height,
    overscan: 10,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured again when the height of rows has changed
  useEffect(() => virtual.measure(), [height, virtual]);

  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    let pointed = false;
    const look = (): void => atTop(!pointed && element.scrollTop < height && !element.matches(':has(a:focus-visible)'));
    // After a blur the next element has the focus only in the next frame.
    const blurred = (): void => void requestAnimationFrame(look);
    // A line that moves under the pointer cannot be clicked. A finger stays nowhere.
    const pointer = ({ type, pointerType }: PointerEvent): void => {
      pointed = type === 'pointerenter' && pointerType === 'mouse';
      look();
    };
    const stop = new AbortController();
    const { signal } = stop;
    element.addEventListener('scroll', look, { passive: true, signal });
    element.addEventListener('focusin', look, { signal });
    element.addEventListener('focusout', blurred, { signal });
    element.addEventListener('pointerenter', pointer, { signal });
    element.addEventListener('pointerleave', pointer, { signal });
    return () => {
      stop.abort();
      atTop(true);
    };
  }, [scroller, height, atTop]);

  return (
    <div className="card table traffic-table">
      <div className="table-head" aria-hidden="true">
        <span>Time</span>
        <span>Status</span>
        <span>Request</span>
        <span>Route</span>
        <span>Consumer</span>
        <span>Answered by</span>
        <span className="number">Duration</span>
      </div>
      <div ref={scroller} className="table-body">
        <ul aria-label="Requests" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => {
            const record = records[index];
            if (record === undefined) return null;
            return (
              <li key={key} aria-posinset={index + 1} aria-setsize={records.length}>
                <TrafficRow record={record} start={start} />
              </li>
            );
          })}
        </ul>
      </div>
    </div>
  );
}

const TrafficRow = memo(function TrafficRow({
  record,
  start,
}: {
  readonly record: TrafficRecord;
  readonly start: number;
}) {
  const { id, at, method, path, status, route, consumer, reason, duration, client, bytes_out: size } = record;
  return (
    <Link
      to="/traffic/$id"
      params={{ id }}
      className={`table-row ${statusClass(status)}`}
      style={{ transform: `translateY(${start}px)` }}
    >
      <time className="cell mono time" dateTime={at} title={momentText(at)}>
        {timeText(at)}
      </time>
      <span className="cell status">
        <span className={`badge mono ${statusClass(status)}`}>{status}</span>
      </span>
      <span className="cell mono request" title={visibleText(beginningOf(`${method} ${path}`, maxPath))}>
        <span className="method">
          <WireText text={method} max={20} />
        </span>
        <span className="truncate">
          <WireText text={path} max={maxPath} />
        </span>
      </span>
      <span className="cell route">
        <span className="truncate">{route === null ? <Nothing /> : visibleText(route.name ?? route.id)}</span>
      </span>
      <span className="cell consumer" title={`From ${visibleText(client)}`}>
        <span className="truncate">
          {consumer === null ? (
            <span className="muted mono">{visibleText(client)}</span>
          ) : (
            visibleText(consumer.username ?? consumer.custom_id ?? consumer.id)
          )}
        </span>
      </span>
      <span className="cell by" title={reason === null ? undefined : visibleText(beginningOf(reason, maxPath))}>
        <span className="truncate">{answererText(record)}</span>
      </span>
      <span className="cell number mono" title={`${bytesText(size)} sent`}>
        {durationText(duration)}
      </span>
    </Link>
  );
});

function Nothing() {
  return <span className="muted">none</span>;
}

/** Who answered; of an error, why. */
function answererText({ by, who, reason, aborted, tries }: TrafficRecord): string {
  if (reason !== null) {
    const said = by === 'plugin' && who !== null ? shortReason(reason, who) : reason;
    return visibleText(beginningOf(said, maxPath));
  }
  const again = tries > 1 ? `, ${tries} tries` : '';
  const left = aborted ? ', client left' : '';
  const name = who === null ? '' : ` ${visibleText(beginningOf(who, maxPath))}`;
  if (by === 'backend') return `backend${name}${again}${left}`;
  return by === 'plugin' ? `plugin${name}${left}` : `${by}${left}`;
}

/** `key-auth: No API key found in request.` instead of the whole sentence: the line has the status already. */
function shortReason(reason: string, plugin: string): string {
  const beginning = `The plugin ${plugin} answered `;
  return reason.startsWith(beginning) ? `${plugin}: ${reason.slice(beginning.length).replace(/^\d+: /, '')}` : reason;
}
