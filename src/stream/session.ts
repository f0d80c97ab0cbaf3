import type { ProxiedAddress } from '../listener/proxy-protocol.ts';
import type { PluginPlan } from '../plugin-runner/plan.ts';
import type { StreamProtocol } from '../router/stream-router.ts';
import type { RuntimeService } from '../snapshot/runtime.ts';
import type { RuntimeStreamRoute } from '../snapshot/runtime-stream.ts';
import { monotonic } from '../util/clock.ts';

/** How a stream ended, as nginx's stream module has it: what the access log shows. */
export const Status = Object.freeze({
  ok: 200,
  /** The client's first bytes are not what the listener takes. */
  badRequest: 400,
  /** A plugin did not let it in. */
  forbidden: 403,
  /** No route, as in Kong; or a bug. */
  internal: 500,
  /** No backend could be reached. */
  badGateway: 502,
  /** There is no service, or no address of it. */
  unavailable: 503,
});

/** One try at a backend. */
export interface StreamAttempt {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly ip: string;
  readonly port: number;
  /** 502: it was not reached, or broke off; 504: it took too long; 0: neither. */
  failed: number;
}

/** One stream: who it is of, where it goes, and what is told of it in the end. */
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
  /** Bytes from and to the client, without those of TLS that the gateway terminates. */
  bytesReceived = 0;
  bytesSent = 0;
  /** Bytes from and to the backend. */
  upstreamReceived = 0;
  upstreamSent = 0;
  /** When a backend was first asked, on the monotonic clock; 0: none was. */
  askedMono = 0;
  /** A backend was reached; of UDP: was sent something. */
  joined = false;
  /** The plugins that hear of the end; null: none does. */
  plan: PluginPlan | null = null;
  /** Null: no backend was asked. */
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
