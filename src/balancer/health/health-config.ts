/** What counts towards an address's health of the requests that pass. A limit of 0 turns its counter off. */
export interface PassiveChecks {
  readonly successes: number;
  readonly tcpFailures: number;
  readonly timeouts: number;
  readonly httpFailures: number;
  readonly healthyStatuses: ReadonlySet<number>;
  readonly unhealthyStatuses: ReadonlySet<number>;
}

type Fields = Readonly<Record<string, unknown>>;

/** Null: no counter could ever make an address unhealthy. */
export function passiveChecksOf(healthchecks: Fields): PassiveChecks | null {
  const passive = fields(healthchecks['passive']);
  const healthy = fields(passive['healthy']);
  const unhealthy = fields(passive['unhealthy']);
  const checks = {
    successes: count(healthy, 'successes'),
    tcpFailures: count(unhealthy, 'tcp_failures'),
    timeouts: count(unhealthy, 'timeouts'),
    httpFailures: count(unhealthy, 'http_failures'),
    healthyStatuses: statuses(healthy),
    unhealthyStatuses: statuses(unhealthy),
  };
  return checks.tcpFailures + checks.timeouts + checks.httpFailures === 0 ? null : Object.freeze(checks);
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function count(from: Fields, name: string): number {
  const value = from[name];
  return typeof value === 'number' ? value : 0;
}

function statuses(from: Fields): ReadonlySet<number> {
  const value = from['http_statuses'];
  return new Set(Array.isArray(value) ? value.filter((status) => typeof status === 'number') : []);
}
