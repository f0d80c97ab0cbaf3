import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call } from '../api/client.ts';
import type { PlannedWrite } from './planned-write.ts';

/** Recorded requests that a change is tried on. */
export const triedRequests = 1000;

/** What happens to a request. */
export interface Outcome {
  readonly status?: number | null;
  /** Who answers: `backend`, `gateway` or `plugin`. */
  readonly by?: string | null;
  /** The name of the plugin, or the address of the backend. */
  readonly who?: string | null;
  readonly route?: { readonly id: string; readonly name: string | null } | null;
  readonly service?: { readonly id: string; readonly name: string | null } | string | null;
  readonly reason?: string | null;
}

export interface OutcomeGroup {
  readonly before: Outcome;
  readonly after: Outcome;
  readonly count: number;
  /** Ids of recorded requests. */
  readonly examples: readonly string[];
}

/** The answer of `POST /what-if`. */
export interface WhatIf {
  readonly requests: { readonly kept: number; readonly replayed: number; readonly undecided: number };
  readonly refused: number;
  readonly admitted: number;
  readonly rerouted: number;
  readonly changed: number;
  readonly groups: readonly OutcomeGroup[];
  /** Why not all requests were tried. */
  readonly note?: string | null;
  readonly undecided: readonly { readonly reason: string; readonly plugin?: string | null; readonly count: number }[];
}

/** What is tried: writes in their order, or the config of a version. */
export type Trial = { readonly changes: readonly PlannedWrite[] } | { readonly version: number };

/** What the trial would do to the last requests. An earlier call is aborted when another one takes its place. */
export function whatIfQuery(trial: Trial) {
  return queryOptions({
    queryKey: ['what-if', JSON.stringify(trial)],
    queryFn: ({ signal }) => call<WhatIf>('POST', '/what-if', { body: { ...trial, requests: triedRequests }, signal }),
    placeholderData: keepPreviousData,
    retry: false,
    refetchOnWindowFocus: false,
    staleTime: 5_000,
    // The writes may contain secrets.
    gcTime: 0,
  });
}

/** `This would refuse 12 of the last 1,000 requests.` */
export function effectText({ requests, refused, admitted, rerouted, changed }: WhatIf): string {
  const last = `the last ${requests.replayed.toLocaleString()} ${requests.replayed === 1 ? 'request' : 'requests'}`;
  if (changed + refused + admitted + rerouted === 0) return `This would change the answer to none of ${last}.`;
  const parts = [
    refused > 0 ? `refuse ${refused.toLocaleString()}` : '',
    admitted > 0 ? `admit ${admitted.toLocaleString()} that were refused` : '',
    rerouted > 0 ? `send ${rerouted.toLocaleString()} to another route or service` : '',
  ].filter((part) => part !== '');
  if (parts.length === 0) parts.push(`change the answer to ${changed.toLocaleString()}`);
  return `This would ${joined(parts)} of ${last}.`;
}

const list = new Intl.ListFormat('en', { type: 'conjunction' });
const joined = (parts: readonly string[]): string => list.format(parts);

/** `200 by the backend`. */
export function outcomeText({ status, by, who, route, service }: Outcome): string {
  const place = typeof service === 'string' ? service : (service?.name ?? service?.id);
  const author = by === 'plugin' ? (who ?? 'a plugin') : by === null || by === undefined ? null : `the ${by}`;
  const parts = [
    [status === null || status === undefined ? 'Some status' : String(status), author].filter(Boolean).join(' by '),
    route === null ? 'no route' : route === undefined ? '' : `route ${route.name ?? route.id.slice(0, 8)}`,
    place === null || place === undefined ? '' : `service ${place}`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}
