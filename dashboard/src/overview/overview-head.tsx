import { ApiError } from '../api/client.ts';
import type { StreamState } from '../api/event-stream.ts';
import type { AttentionItem } from './attention-items.tsx';
import { countText } from './numbers.ts';
import { timeText } from './plot-lines.ts';
import { historyRanges, type RangeName } from './ranges.ts';

interface StreamBadgeProps {
  readonly state: StreamState;
  readonly error: Error | null;
  /** Of the last second, seconds since the epoch. */
  readonly last: number | null;
}

export function StreamBadge({ state, error, last }: StreamBadgeProps) {
  if (state === 'live') return <span className="badge ok">Live</span>;
  if (state === 'connecting') return <span className="badge">Connecting</span>;
  const since = last === null ? '' : `, as of ${timeText(last, 1)}`;
  return (
    <span className="badge warn" title={error?.message}>
      {error instanceof ApiError ? error.message : `No connection${since}`}
    </span>
  );
}

export function AttentionBadge({ items }: { readonly items: readonly AttentionItem[] | null }) {
  if (items === null) return null;
  const serious = items.filter(({ level }) => level !== 'note');
  if (serious.length === 0) return null;
  const danger = serious.some(({ level }) => level === 'danger');
  return (
    <button
      type="button"
      className={`badge ov-jump ${danger ? 'danger' : 'warn'}`}
      onClick={() => document.getElementById('attention-list')?.scrollIntoView({ block: 'start' })}
    >
      {countText(serious.length)} {serious.length === 1 ? 'needs' : 'need'} attention
    </button>
  );
}

interface RangeChoiceProps {
  readonly value: RangeName;
  readonly onChange: (range: RangeName) => void;
}

export function RangeChoice({ value, onChange }: RangeChoiceProps) {
  const all = [{ name: 'live', label: 'Live' } as const, ...historyRanges];
  return (
    <fieldset className="ov-choice">
      <legend className="visually-hidden">Range</legend>
      {all.map(({ name, label }) => (
        <label key={name}>
          <input type="radio" name="range" checked={name === value} onChange={() => onChange(name)} />
          {label}
        </label>
      ))}
    </fieldset>
  );
}
