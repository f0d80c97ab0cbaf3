import type { ProxiedAddress } from '../../shared/proxy-protocol/proxy-protocol.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import type { PluginPlan } from '../plugin-runner/plan.ts';
import type { StreamProtocol } from '../router/stream-router.ts';
import type { RuntimeService } from '../snapshot/runtime.ts';
import type { RuntimeStreamRoute } from '../snapshot/runtime-stream.ts';

/** How a stream ended, as in nginx's stream module: what the access log shows. */
export const Status = Object.freeze({
  ok: 200,
  /** The first bytes of the client are not what the listener accepts. */
  badRequest: 400,
  /** Rejected by a plugin. */
  forbidden: 403,
  /** No route, as in Kong; or a bug. */
  internal: 500,
  /** No backend could be reached. */
  badGateway: 502,
  /** There is no service, or no address of it. */
  unavailable: 503,
});

/** One attempt at a backend. */
export interface StreamAttempt {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly ip: string;
  readonly port: number;
  /** 502: not reached, or connection broken; 504: timeout; 0: neither. */
  failed: number;
}

/** One stream: its client, its route, and what is logged about it at the end. */
export class Session {
  readonly transport: 'tcp' | 'tls' | 'udp';
  readonly client: ProxiedAddress;
  readonly localIp: string;
  /** After `port_maps`. */
  readonly localPort: number;
  /** Milliseconds since the epoch, and on the monotonic clock. */
  readonly startedAt: number = Date.now();
  readonly startedMono: number = monotonic();
  serverName = '';
  route: RuntimeStreamRoute | null = null;
  status: number = Status.ok;
  /** Bytes from and to the client, without TLS framing where the gateway terminates TLS. */
  bytesReceived = 0;
  bytesSent = 0;
  /** Bytes from and to the backend. */
  upstreamReceived = 0;
  upstreamSent = 0;
  /** When a backend was first contacted, on the monotonic clock; 0: never. */
  upstreamStartedMono = 0;
  /** A backend was reached; UDP: a datagram was sent to it. */
  connected = false;
  /** The plugins that log the end; null: none. */
  plan: PluginPlan | null = null;
  /** Null: no backend was contacted. */
  attempts: StreamAttempt[] | null = null;
  /** Of the TLS that the gateway terminated. */
  tls: { readonly version: string; readonly cipher: string } | null = null;

  constructor(transport: Session['transport'], client: ProxiedAddress, localIp: string, localPort: number) {
    this.transport = transport;
    this.client = client;
    this.localIp = localIp;
    this.localPort = localPort;
  }

  get service(): RuntimeService | null {
    return this.route?.service ?? null;
  }

  get protocol(): StreamProtocol {
    if (this.transport !== 'tls') return this.transport;
    return this.route?.protocols.includes('tls_passthrough') === true ? 'tls_passthrough' : 'tls';
  }
}
