import type { NameState } from '../../dns/types.ts';
import type { AdminDependencies, DnsFacts } from '../contract.ts';
import { type AdminRoute, ok } from '../http/admin-route.ts';

/** Maximum names, and addresses of one name, in the list; further ones are only counted. */
const maxNames = 1_000;
const maxAddresses = 32;

/** `GET /status/dns`: the names in use, with their addresses, the servers, and the counts of queries. */
export function dnsStatusRoute({ dns }: AdminDependencies): AdminRoute {
  return {
    path: '/status/dns',
    tag: 'node',
    operations: {
      GET: {
        access: 'read',
        handle: async () => ok(describe(await dns())),
        notes: { summary: 'Names in use and their addresses', answer: 'object' },
      },
    },
  };
}

function describe({ servers, counts, names, size }: DnsFacts): unknown {
  const now = Date.now();
  const shown: Record<string, unknown> = Object.create(null);
  for (const [name, state] of [...names].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, maxNames)) {
    shown[name] = describeName(state, now);
  }
  return { servers, stats: counts, name_count: size, names: shown };
}

function describeName(state: NameState | null, now: number): unknown {
  if (state === null) return { status: 'asked', address_count: 0, addresses: [] };
  const { addresses, stale, error, expires } = state;
  return {
    status: addresses.length === 0 ? 'failed' : stale ? 'stale' : 'fresh',
    error,
    // Seconds.
    next_query_in: Math.max(0, Math.round((expires - now) / 100) / 10),
    address_count: addresses.length,
    addresses: addresses.slice(0, maxAddresses),
  };
}
