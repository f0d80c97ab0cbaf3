import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { rowsQuery } from '../../api/queries.ts';
import { labelOf } from '../../config/labels.ts';
import type { TrafficSearch } from '../../router.tsx';
import { visibleText } from '../visible-text.ts';
import { type FilterName, filterNames, hasFilter, mayBeNone, statusList, toggledStatus } from './filter-query.ts';
import { useNarrow } from './use-narrow.ts';

/** Statuses that people look for. */
const quickStatuses = ['2xx', '4xx', '401', '403', '404', '429', '5xx', '503'];
/** Names that are suggested. */
const maxNames = 200;
/** What the fields of routes, services and consumers show for requests without one. */
const none = '(none)';

interface FilterField {
  readonly name: FilterName;
  readonly label: string;
  readonly placeholder: string;
  /** Collection whose names are suggested. */
  readonly collection?: string;
  readonly size: 's' | 'm' | 'l';
}

const fields: readonly FilterField[] = [
  { name: 'status', label: 'Status', placeholder: '404,5xx', size: 's' },
  { name: 'method', label: 'Method', placeholder: 'GET', size: 's' },
  { name: 'path', label: 'Path', placeholder: 'begins with /', size: 'l' },
  { name: 'route', label: 'Route', placeholder: 'name or id', collection: '/routes', size: 'm' },
  { name: 'service', label: 'Service', placeholder: 'name or id', collection: '/services', size: 'm' },
  { name: 'consumer', label: 'Consumer', placeholder: 'name or id', collection: '/consumers', size: 'm' },
  { name: 'client', label: 'Client address', placeholder: '10.0.0.0/8', size: 'm' },
  { name: 'min_duration', label: 'At least ms', placeholder: '100', size: 's' },
];

interface TrafficFiltersProps {
  readonly search: TrafficSearch;
  readonly change: (search: TrafficSearch) => void;
  /** Messages of the Admin API, by filter. */
  readonly problems: Readonly<Record<string, string>>;
}

/** The filters are in the address of the page: a field changes it with Enter, or when it is left. */
export function TrafficFilters({ search, change, problems }: TrafficFiltersProps) {
  const active = statusList(search.status);
  const narrow = useNarrow();
  const [open, setOpen] = useState(!narrow || hasFilter(search));
  const set = (name: FilterName, value: string | undefined): void => change(withFilter(search, name, value));
  return (
    <search aria-label="Filters" className="traffic-filters">
      <fieldset className="quick">
        <legend className="visually-hidden">Status, quick choices</legend>
        {quickStatuses.map((status) => (
          <button
            key={status}
            type="button"
            className="button tight"
            aria-pressed={active.includes(status)}
            onClick={() => set('status', toggledStatus(search.status, status))}
          >
            {status}
          </button>
        ))}
        {hasFilter(search) && (
          <button type="button" className="button tight plain" onClick={() => change({})}>
            Clear filters
          </button>
        )}
      </fieldset>
      <details className="more" open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Filters</summary>
        <div className="filter-fields">
          {fields.map((field) => (
            <FilterInput
              key={field.name}
              field={field}
              value={search[field.name]}
              problem={problems[field.name] ?? null}
              set={(value) => set(field.name, value)}
            />
          ))}
        </div>
      </details>
    </search>
  );
}

function withFilter(search: TrafficSearch, name: FilterName, value: string | undefined): TrafficSearch {
  return Object.fromEntries(
    filterNames.flatMap((one) => {
      const next = one === name ? value : search[one];
      return next === undefined ? [] : [[one, next]];
    }),
  );
}

interface FilterInputProps {
  readonly field: FilterField;
  readonly value: string | undefined;
  readonly problem: string | null;
  readonly set: (value: string | undefined) => void;
}

function FilterInput({ field, value, problem, set }: FilterInputProps) {
  const { name, label, placeholder, collection, size } = field;
  const id = useId();
  const shown = value === '' ? none : (value ?? '');
  const [text, setText] = useState(shown);
  const [used, setUsed] = useState(false);
  useEffect(() => setText(shown), [shown]);
  const names = useNames(used ? collection : undefined);

  function commit(next: string): void {
    const trimmed = next.trim();
    const wanted = trimmed === '' ? undefined : trimmed === none && mayBeNone.has(name) ? '' : trimmed;
    if (wanted !== value) set(wanted);
  }

  function keyDown(event: KeyboardEvent<HTMLInputElement>): void {
    if (event.key === 'Enter') commit(text);
    if (event.key === 'Escape') setText(shown);
  }

  return (
    <div className={`filter ${size}`}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input"
        autoComplete="off"
        spellCheck={false}
        {...(name === 'min_duration' ? { inputMode: 'numeric' as const } : {})}
        {...(collection === undefined ? {} : { list: `${id}-names` })}
        placeholder={placeholder}
        value={text}
        aria-invalid={problem !== null}
        aria-describedby={problem === null ? undefined : `${id}-problem`}
        onFocus={() => setUsed(true)}
        onChange={({ target, nativeEvent }) => {
          setText(target.value);
          // A suggestion was chosen, or the field was emptied.
          if (!(nativeEvent instanceof InputEvent) || names.includes(target.value)) commit(target.value);
        }}
        onKeyDown={keyDown}
        onBlur={() => commit(text)}
      />
      {problem !== null && (
        <p id={`${id}-problem`} className="problem">
          {visibleText(problem)}
        </p>
      )}
      {collection !== undefined && (
        <datalist id={`${id}-names`}>
          {[...names, none].map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </div>
  );
}

function useNames(collection: string | undefined): readonly string[] {
  const { data } = useQuery({ ...rowsQuery(collection ?? '', maxNames), enabled: collection !== undefined });
  return (data?.rows ?? []).map((row) => {
    const { name, username } = row as { readonly name?: unknown; readonly username?: unknown };
    return typeof name === 'string' ? name : typeof username === 'string' ? username : labelOf(row);
  });
}
