import { isIP } from 'node:net';
import { buildWheel } from '../balancer/round-robin.ts';
import type { Row } from '../entities/entity.ts';
import { foreignId, number, text } from './row-fields.ts';
import type { RuntimeTarget, RuntimeUpstream } from './runtime.ts';

/** An upstream with what only the building of services needs of it. */
export interface BuiltUpstream extends RuntimeUpstream {
  readonly clientCertificate: string | null;
}

/** `previous` hands over its place on the wheel, so that an edit does not send everyone to the first target again. */
export function buildUpstream(
  row: Row,
  targetsByAge: readonly RuntimeTarget[],
  previous: RuntimeUpstream | null,
): BuiltUpstream {
  const targets = targetsByAge.filter((target) => target.weight > 0);
  const wheel = buildWheel(targets.map((target) => target.weight));
  return {
    id: row.id,
    name: text(row, 'name') ?? '',
    algorithm: text(row, 'algorithm') ?? 'round-robin',
    hostHeader: text(row, 'host_header'),
    targets,
    wheel,
    // Workers begin at different places: otherwise the first target gets the first request of each.
    next: previous === null ? Math.floor(Math.random() * wheel.length) : previous.next % Math.max(1, wheel.length),
    clientCertificate: foreignId(row, 'client_certificate'),
  };
}

/** Throws when the address cannot be read. */
export function buildTarget(row: Row): RuntimeTarget {
  const { host, port } = splitAddress(text(row, 'target') ?? '');
  return { id: row.id, host, ip: isIP(host) === 0 ? null : host, port, weight: number(row, 'weight', 100), slot: 0 };
}

/** Splits `host:port` and `[v6]:port`. The port is 8000 when there is none, as Kong has it. */
function splitAddress(address: string): { readonly host: string; readonly port: number } {
  const parts = /^(?:\[(?<v6>[^\]]+)\]|(?<name>[^:]+))(?::(?<port>\d{1,5}))?$/.exec(address)?.groups;
  const host = parts?.['v6'] ?? parts?.['name'];
  const port = Number(parts?.['port'] ?? 8000);
  if (host === undefined || port > 65_535) throw new Error(`the target '${address}' is not an address`);
  return { host, port };
}
