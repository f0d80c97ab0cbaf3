import { isIP } from 'node:net';
import type { UpstreamTimeouts } from '../../plugin-sdk/attempts.ts';
import type { Row } from '../../shared/entities/entity.ts';
import { number, shownRow, text, texts } from '../../shared/entities/row-fields.ts';
import { hostHeader } from '../../shared/util/net/host-header.ts';
import type { RuntimeTarget } from '../balancer/runtime-target.ts';
import { loadUpstreamSessions } from '../http2/load-upstream-sessions.ts';
import type { RuntimeService, RuntimeUpstream, UpstreamTls } from './runtime.ts';

/** A service in the snapshot. The parts from other entities are replaced in place when they change. */
export class LiveService implements RuntimeService {
  readonly id: string;
  readonly name: string | null;
  readonly protocol: RuntimeService['protocol'];
  readonly http2: boolean;
  readonly host: string;
  readonly port: number;
  readonly path: string | null;
  readonly retries: number;
  readonly timeouts: UpstreamTimeouts;
  readonly tags: readonly string[];
  readonly target: RuntimeTarget;
  readonly hostHeader: string;
  readonly stored: Row;
  upstream: RuntimeUpstream | null = null;
  tls: UpstreamTls | null = null;

  constructor(row: Row) {
    this.id = row.id;
    this.name = text(row, 'name');
    this.protocol = (text(row, 'protocol') ?? 'http') as RuntimeService['protocol'];
    this.http2 = this.protocol === 'grpc' || this.protocol === 'grpcs';
    if (this.http2) loadUpstreamSessions();
    this.host = serviceHost(row);
    this.port = number(row, 'port', 80);
    this.path = text(row, 'path');
    this.retries = number(row, 'retries', 5);
    const read = number(row, 'read_timeout', 60_000);
    this.timeouts = Object.freeze({
      connect: number(row, 'connect_timeout', 60_000),
      send: number(row, 'write_timeout', 60_000),
      firstByte: read,
      idle: read,
      total: 0,
    });
    this.tags = texts(row, 'tags') ?? [];
    const ip = isIP(this.host) === 0 ? null : this.host;
    this.target = { id: row.id, host: this.host, ip, port: this.port, weight: 100, slot: 0 };
    this.hostHeader = hostHeader(this.protocol, this.host, this.port);
    this.stored = row;
  }

  get row(): Readonly<Record<string, unknown>> {
    return shownRow(this.stored);
  }
}

/** The name under which a service finds its upstream. */
export function serviceHost(row: Row): string {
  return text(row, 'host') ?? '';
}
