import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useRef, useState } from 'react';
import type { Row } from '../api/queries.ts';
import { RelativeTime } from '../components/relative-time.tsx';
import { labelOf } from './labels.ts';

interface EntityTableProps {
  readonly entity: string;
  readonly label: string;
  readonly rows: readonly { readonly row: Row; readonly summary: string }[];
}

/** Rows of any number: only those in view are in the document. */
export function EntityTable({ entity, rows, label }: EntityTableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const height = useRowHeight();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 12,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured again when the height of rows has changed
  useEffect(() => virtual.measure(), [height, virtual]);
  return (
    <div className="card table">
      <div className="table-head" aria-hidden="true">
        <span>Name</span>
        <span>Content</span>
        <span>Tags</span>
        <span>Changed</span>
      </div>
      <div ref={scroller} className="table-body">
        <ul aria-label={label} style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const entry = rows[index];
            if (entry === undefined) return null;
            return (
              <li key={entry.row.id} aria-posinset={index + 1} aria-setsize={rows.length}>
                <TableRow entity={entity} {...entry} start={start} />
              </li>
            );
          })}
        </ul>
      </div>
    </div>
  );
}

/** Rendered when it comes into view, and not with each step of a scroll. */
const TableRow = memo(function TableRow({
  entity,
  row,
  summary,
  start,
}: {
  readonly entity: string;
  readonly row: Row;
  readonly summary: string;
  readonly start: number;
}) {
  const changed = row.updated_at ?? row.created_at;
  return (
    <Link
      to="/config/$entity/$id"
      params={{ entity, id: row.id }}
      className="table-row"
      style={{ transform: `translateY(${start}px)` }}
    >
      <span className="cell">
        <span className="name truncate">{labelOf(row)}</span>
        {row.enabled === false && <span className="badge warn">off</span>}
      </span>
      <span className="cell mono small">
        <span className="truncate" title={summary}>
          {summary}
        </span>
      </span>
      <span className="cell">
        {(row.tags ?? []).map((tag) => (
          <span key={tag} className="badge">
            {tag}
          </span>
        ))}
      </span>
      <span className="cell small muted">{changed !== undefined && <RelativeTime seconds={changed} />}</span>
    </Link>
  );
});

/** As in the style sheet, where narrow pages have two lines in a row. */
function useRowHeight(): number {
  const query = '(max-width: 48rem)';
  const [narrow, setNarrow] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const change = (): void => setNarrow(list.matches);
    list.addEventListener('change', change);
    return () => list.removeEventListener('change', change);
  }, []);
  return narrow ? 64 : 40;
}
