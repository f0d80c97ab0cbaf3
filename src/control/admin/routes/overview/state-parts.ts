import { awaitWithTimeout } from '../../../../shared/util/time/await-with-timeout.ts';
import type { ListedNode, NodeListing } from '../../../nodes/node-list.ts';
import { type ExpiringCertificate, expiryNotice } from '../../../overview/expiring-certificates.ts';
import { limitWindow } from '../../../overview/limit-hits.ts';
import { problemLevels } from '../../../overview/log-problems.ts';
import type { NodeRates } from '../../../overview/node-rates.ts';
import type { AdminDependencies } from '../../contract.ts';

type Shown = Readonly<Record<string, unknown>>;

/** Maximum items of each list; `total` says how many there are. */
const maxListed = 100;
/** Milliseconds for an answer of the store. */
const pingTimeout = 2_000;
/** What the plugin acme tags its certificates with. */
const managedByAcme = 'managed-by-acme';

const seconds = (milliseconds: number): number => Math.round(milliseconds) / 1000;

/** Backends that get no requests. */
export function failingTargetsPart({ overview }: AdminDependencies): Shown {
  return listed(overview.failingTargets(), ({ upstream, target, address, reason, since }) => ({
    ...{ upstream, target, address, reason },
    state: address === null ? 'dns_error' : 'unhealthy',
    since: since === null ? null : seconds(since),
  }));
}

export function circuitsPart({ overview }: AdminDependencies): Shown {
  return listed(overview.circuits(), ({ plugin, instance, key, state, since, service, address }) => ({
    plugin: { id: instance ?? null, name: plugin },
    ...{ name: key, state },
    since: since === undefined ? null : seconds(since),
    service: service === undefined ? null : { id: service },
    upstream: address?.upstream ?? null,
    target: address?.target ?? null,
  }));
}

/** Plugin instances that rejected or delayed requests in the last minute. */
export function limitsPart({ overview }: AdminDependencies): Shown {
  const hits = listed(overview.limitHits(), ({ plugin, instance, counts, at }) => ({
    plugin: { id: instance, name: plugin },
    rejected: counts['rejected'] ?? 0,
    delayed: counts['delayed'] ?? 0,
    last: seconds(at),
  }));
  return { seconds: seconds(limitWindow), ...hits };
}

export function workersPart({ overview }: AdminDependencies): Shown {
  const { wanted, restarts, stuck, list } = overview.workers();
  return {
    wanted,
    listening: list.filter(({ state }) => state === 'listening').length,
    ...{ restarts, stuck },
    data: list.map(({ worker, state, loopDelay, heapUsed }) => ({
      ...{ worker, state },
      event_loop_delay: seconds(loopDelay),
      heap_used: heapUsed,
    })),
  };
}

export function configPart({ overview, publisher, nodes }: AdminDependencies): Shown {
  const age = nodes.configAge();
  const failures = listed([...publisher.failures], ([name, reason]) => {
    const [entity = '', id = ''] = name.split(':');
    return { entity, id, reason };
  });
  return {
    version: overview.configVersion(),
    age: age === null ? null : seconds(age),
    failures,
  };
}

export function descriptorsPart({ overview }: AdminDependencies): Shown {
  const { open, limit, exhaustions } = overview.descriptors();
  return { open, limit, exhaustions };
}

/** Lines of the error log from `warn` on, and what the last ones said. */
export function logPart({ overview }: AdminDependencies): Shown {
  const { problems } = overview;
  return {
    levels: [...problemLevels],
    since_start: problems.total,
    last_hour: problems.lastHour,
    data: problems.list().map(({ level, message, count, first, last, fields }) => ({
      ...{ level, message, count },
      first: seconds(first),
      last: seconds(last),
      fields,
    })),
  };
}

export async function certificatesPart({ overview }: AdminDependencies): Promise<Shown> {
  const found = await overview.certificates();
  return { within_days: expiryNotice / 86_400_000, ...listed(found, shownCertificate) };
}

function shownCertificate({ source, names, expires, tags }: ExpiringCertificate): Shown {
  return {
    certificate: source.kind === 'certificates' ? { id: source.id } : null,
    ca_certificate: source.kind === 'ca_certificates' ? { id: source.id } : null,
    setting: source.kind === 'setting' ? source.name : null,
    names,
    expires_at: seconds(expires),
    expired: expires <= Date.now(),
    managed_by: tags.includes(managedByAcme) ? 'acme' : null,
  };
}

export async function nodesPart({ nodes }: AdminDependencies, rates: NodeRates): Promise<Shown> {
  const listing = await nodes.list();
  const rateOf = rates.update(listing.nodes.map(({ report }) => report));
  const count = (state: ListedNode['state']): number => listing.nodes.filter((node) => node.state === state).length;
  return {
    ready: count('ready'),
    not_ready: count('not ready'),
    silent: count('silent'),
    ...ageOf(listing),
    ...listed(
      listing.nodes.toSorted(worstFirst),
      (node) => shownNode(node, rateOf.get(node.report.id) ?? null),
      listing.total,
    ),
  };
}

function ageOf({ version, staleFor }: NodeListing): Shown {
  return { store_version: version, stale: staleFor !== null };
}

function worstFirst(a: ListedNode, b: ListedNode): number {
  return Number(a.state === 'ready') - Number(b.state === 'ready');
}

/** `rate`: requests a second. */
function shownNode({ report, state, lag }: ListedNode, rate: number | null): Shown {
  return {
    ...{ id: report.id, hostname: report.hostname, role: report.role, state },
    version: report.version,
    not_ready_reason: report.notReady ?? null,
    config_version: report.config?.version ?? null,
    config_failures: report.config?.failures ?? null,
    lag_versions: lag?.versions ?? null,
    requests_per_second: rate === null ? null : Math.round(rate * 1000) / 1000,
    unhealthy: report.unhealthy?.length ?? 0,
    circuits: report.circuits?.length ?? 0,
  };
}

export async function databasePart({ store, settings }: AdminDependencies): Promise<Shown> {
  let reachable = false;
  const ping = store.ping().then(() => {
    reachable = true;
  });
  await awaitWithTimeout(ping, pingTimeout);
  return { kind: settings.database, reachable };
}

function listed<T>(items: readonly T[], show: (item: T) => unknown, total = items.length): Shown {
  return { total, data: items.slice(0, maxListed).map(show) };
}
