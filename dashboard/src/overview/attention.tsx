import { useState } from 'react';
import { RelativeTime } from '../components/relative-time.tsx';
import type { AttentionItem } from './attention-items.tsx';
import { countText } from './numbers.ts';

/** Rows that are shown until the reader wants all. */
const shownAtFirst = 8;
const levelNames = { danger: 'Problem', warn: 'Warning', note: 'Note' } as const;

interface AttentionProps {
  /** Null: not known yet. */
  readonly items: readonly AttentionItem[] | null;
  /** Items that the gateway has left out. */
  readonly more: number;
  /** Parts that could not be read. */
  readonly unknown: readonly string[];
}

export function Attention({ items, more, unknown }: AttentionProps) {
  const [all, setAll] = useState(false);
  if (items === null) return <div className="card ov-attention skeleton" aria-hidden="true" />;
  const shown = all ? items : items.slice(0, shownAtFirst);
  return (
    <section className="card ov-attention" aria-labelledby="attention" id="attention-list">
      <h2 id="attention">
        {items.length === 0 && unknown.length === 0 ? 'Nothing needs attention' : 'Needs attention'}
      </h2>
      {items.length === 0 && unknown.length === 0 && (
        <p className="ov-calm">
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M4 10.5l4 4 8-9" fill="none" stroke="currentColor" strokeWidth="2.2" strokeLinecap="round" />
          </svg>
          All targets get requests, no circuit is open, no certificate expires within 30 days, every worker and node is
          ready, and the log has had no problem for an hour.
        </p>
      )}
      {unknown.length > 0 && (
        <p className="ov-unknown">Not known, because the gateway could not read it in time: {unknown.join(', ')}.</p>
      )}
      {shown.length > 0 && (
        <ul>
          {shown.map(({ key, level, kind, subject, detail, since }) => (
            <li key={key} className={level}>
              <span className="ov-kind">
                <span className="ov-dot" role="img" aria-label={levelNames[level]} />
                {kind}
              </span>
              <span className="ov-subject">{subject}</span>
              <span className="ov-detail">{detail}</span>
              <span className="ov-since">{since !== null && <RelativeTime seconds={since} />}</span>
            </li>
          ))}
        </ul>
      )}
      {items.length > shown.length && (
        <button type="button" className="button plain tight" onClick={() => setAll(true)}>
          Show all {countText(items.length)}
        </button>
      )}
      {more > 0 && (
        <p className="ov-unknown">The gateway lists the first 100 of each kind. There are {countText(more)} more.</p>
      )}
    </section>
  );
}
