/** The limits of a health check. A limit of 0 disables its counter. */
export interface CheckLimits {
  readonly successes: number;
  readonly tcpFailures: number;
  readonly timeouts: number;
  readonly httpFailures: number;
  readonly healthyStatuses: ReadonlySet<number>;
  readonly unhealthyStatuses: ReadonlySet<number>;
}

/** Limits of passive checks. */
export type PassiveChecks = CheckLimits;

export type ProbeType = 'http' | 'https' | 'tcp' | 'grpc' | 'grpcs';

/** Limits of active checks, and how probes are sent. */
export interface ActiveChecks extends CheckLimits {
  readonly type: ProbeType;
  /** Milliseconds for each step of a probe: connect, TLS, response. */
  readonly timeout: number;
  /** Concurrent probes of an upstream. */
  readonly concurrency: number;
  /** Milliseconds from one probe to the next of an address that is healthy or unhealthy; 0: not probed. */
  readonly healthyInterval: number;
  readonly unhealthyInterval: number;
  readonly path: string;
  /** Null: the target's name. */
  readonly sni: string | null;
  readonly verify: boolean;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** The `healthchecks` record of an upstream. */
export interface HealthConfig {
  /** Null: no active checks. */
  readonly active: ActiveChecks | null;
  /** Null: no passive checks. */
  readonly passive: PassiveChecks | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** Null: neither probes nor traffic could make an address unhealthy; its health is unknown (`HEALTHCHECKS_OFF`). */
export function healthConfigOf(healthchecks: unknown): HealthConfig | null {
  const all = fields(healthchecks);
  const active = activeChecksOf(fields(all['active']));
  const passive = limitsOf(fields(all['passive']));
  const watched = passive.tcpFailures + passive.timeouts + passive.httpFailures > 0;
  if (active === null && !watched) return null;
  return Object.freeze({ active, passive: watched || passive.successes > 0 ? passive : null });
}

/** The upstream is healthy when more than this percentage of the weight is available. */
export function thresholdOf(healthchecks: unknown): number {
  return number(fields(healthchecks), 'threshold', 0);
}

/** Null: no passive checks. */
export function passiveChecksOf(healthchecks: unknown): PassiveChecks | null {
  return healthConfigOf(healthchecks)?.passive ?? null;
}

function activeChecksOf(active: Fields): ActiveChecks | null {
  const healthyInterval = number(fields(active['healthy']), 'interval', 0) * 1000;
  const unhealthyInterval = number(fields(active['unhealthy']), 'interval', 0) * 1000;
  if (healthyInterval === 0 && unhealthyInterval === 0) return null;
  return Object.freeze({
    ...limitsOf(active),
    type: text(active, 'type', 'http') as ProbeType,
    // Kong accepts 0 too, which would leave a probe no time: it means the default.
    timeout: (number(active, 'timeout', 1) || 1) * 1000,
    concurrency: Math.max(1, number(active, 'concurrency', 10)),
    healthyInterval,
    unhealthyInterval,
    path: text(active, 'http_path', '/'),
    sni: text(active, 'https_sni', '') || null,
    verify: active['https_verify_certificate'] !== false,
    headers: headersOf(active['headers']),
  });
}

function limitsOf(checks: Fields): CheckLimits {
  const healthy = fields(checks['healthy']);
  const unhealthy = fields(checks['unhealthy']);
  return Object.freeze({
    successes: number(healthy, 'successes', 0),
    tcpFailures: number(unhealthy, 'tcp_failures', 0),
    timeouts: number(unhealthy, 'timeouts', 0),
    httpFailures: number(unhealthy, 'http_failures', 0),
    healthyStatuses: statuses(healthy),
    unhealthyStatuses: statuses(unhealthy),
  });
}

function headersOf(value: unknown): readonly (readonly [string, string])[] {
  return Object.entries(fields(value)).flatMap(([name, values]) =>
    (Array.isArray(values) ? values : []).map((each): readonly [string, string] => [name, String(each)]),
  );
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function number(from: Fields, name: string, otherwise: number): number {
  const value = from[name];
  return typeof value === 'number' ? value : otherwise;
}

function text(from: Fields, name: string, otherwise: string): string {
  const value = from[name];
  return typeof value === 'string' ? value : otherwise;
}

function statuses(from: Fields): ReadonlySet<number> {
  const value = from['http_statuses'];
  return new Set(Array.isArray(value) ? value.filter((status) => typeof status === 'number') : []);
}
