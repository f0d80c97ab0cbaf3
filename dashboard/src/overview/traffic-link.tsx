import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { TrafficSearch } from '../router.tsx';
import type { Named } from './overview-data.ts';

interface TrafficLinkProps {
  readonly search: TrafficSearch;
  /** What the number is, for a screen reader. */
  readonly label?: string;
  readonly children: ReactNode;
}

/** A number that leads to the requests behind it. */
export function TrafficLink({ search, label, children }: TrafficLinkProps) {
  return (
    <Link to="/traffic" search={search} className="ov-number" {...(label === undefined ? {} : { 'aria-label': label })}>
      {children}
    </Link>
  );
}

interface EntityLinkProps {
  readonly entity: string;
  readonly id: string;
  readonly parent?: { readonly entity: string; readonly id: string };
  readonly children: ReactNode;
}

export function EntityLink({ entity, id, parent, children }: EntityLinkProps) {
  return (
    <Link
      to="/config/$entity/$id"
      params={{ entity, id }}
      search={parent === undefined ? {} : { parent: parent.entity, parentId: parent.id }}
      className="ov-name"
    >
      {children}
    </Link>
  );
}

/** Requests that are counted together, because there are too many series. */
export const others = '*';

export function nameOf({ id, name, username }: Named): string {
  return name ?? username ?? id.slice(0, 8);
}

/** The filter for the requests of an entity, or of none; null: they have none in common. */
export function trafficOf(
  kind: 'route' | 'service' | 'consumer',
  entity: Named | null | undefined,
): TrafficSearch | null {
  if (entity === undefined || entity?.id === others) return null;
  return { [kind]: entity?.id ?? '' };
}

/** The filter for requests that took so many milliseconds, or more. */
export function slowerThan(duration: number): TrafficSearch {
  return { min_duration: String(Math.floor(duration)) };
}
