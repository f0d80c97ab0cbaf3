import { compileFormat, type Formatter, type Variable } from '../../shared/logs/access-log.ts';
import { type LogSink, openLogSink } from '../../shared/logs/log-sink.ts';
import { isoTime, localTime, seconds } from '../../shared/logs/log-times.ts';
import type { LogFormat } from '../../shared/settings/kinds/log-format.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { flatText } from '../../shared/util/bytes/flat-text.ts';
import { type DownstreamPeer, drawOf, type Exchange } from '../request/exchange.ts';
import { exchangeVariable } from './access-variables.ts';

/** A message that was refused before it was parsed. */
export interface RefusedBytes {
  readonly peer: DownstreamPeer;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The first line, secrets masked; '' when none arrived. */
  readonly line: string;
  readonly status: number;
  readonly bodyBytes: number;
  readonly id: string;
}

/** Heads with more characters are not kept for their connection. */
const maxKeptLength = 4096;

/** One worker's access log. */
export class AccessLines {
  readonly #sink: LogSink;
  readonly #format: Formatter<Exchange>;
  readonly #formatRefused: Formatter<RefusedBytes>;
  /** Requests with a lower draw have a line. */
  readonly #share: number;
  readonly #always: Uint8Array;

  /** `lost` receives the number of lines that could not be written. */
  constructor(settings: Settings, lost: (lines: number) => void) {
    this.#sink = openLogSink(settings.proxyAccessLog, { bytes: true, lost });
    const format = settings.accessLogFormats.proxy;
    this.#format = exchangeFormatter(format);
    this.#formatRefused = compileFormat(format, { variable: refusedVariable });
    this.#share = settings.accessLogSampling.share;
    this.#always = settings.accessLogSampling.always;
  }

  write(x: Exchange): void {
    if (this.#share < 1 && drawOf(x) >= this.#share && this.#always[x.status] !== 1) return;
    this.#sink.write(this.#format(x));
  }

  writeRefused(refused: RefusedBytes): void {
    if (this.#share < 1 && Math.random() >= this.#share && this.#always[refused.status] !== 1) return;
    this.#sink.write(this.#formatRefused(refused));
  }

  reopen(): void {
    this.#sink.reopen();
  }

  close(): Promise<void> {
    return this.#sink.close();
  }
}

/** Writes a line of a finished exchange. */
export function exchangeFormatter(format: LogFormat): Formatter<Exchange> {
  return compileFormat(format, { variable: exchangeVariable, cache: remember });
}

/** Clients repeat the same head on a connection: comparing heads finds its text. */
function remember(make: Formatter<Exchange>): Formatter<Exchange> {
  return (x) => {
    const { peer, plan } = x;
    const { block } = x.head;
    const known = peer.logged;
    if (known !== null && known.plan === plan && known.block === block) return known.text;
    const text = flatText(make(x));
    if (block.length <= maxKeptLength) peer.logged = { block, plan, text };
    return text;
  };
}

const refusedVariables: Readonly<Record<string, Variable<RefusedBytes>>> = {
  body_bytes_sent: { read: ({ bodyBytes }) => `${bodyBytes}`, clean: true },
  connection: { read: ({ peer }) => `${peer.serial}`, clean: true },
  kong_request_id: { read: ({ id }) => id, clean: true },
  msec: { read: ({ time }) => seconds(time), clean: true },
  realip_remote_addr: { read: ({ peer }) => peer.peerIp, clean: true },
  remote_addr: { read: ({ peer }) => peer.peerIp, clean: true },
  remote_port: { read: ({ peer }) => `${peer.peerPort}`, clean: true },
  request: { read: ({ line }) => line },
  request_id: { read: ({ id }) => id, clean: true },
  response_source: { read: () => 'kong', clean: true },
  scheme: { read: ({ peer }) => peer.scheme, clean: true },
  server_port: { read: ({ peer }) => `${peer.localPort}`, clean: true },
  ssl_protocol: { read: ({ peer }) => peer.tls?.version ?? null },
  status: { read: ({ status }) => `${status}`, clean: true },
  time_iso8601: { read: ({ time }) => isoTime(time), clean: true },
  time_local: { read: ({ time }) => localTime(time), clean: true },
};

const unknown: Variable<RefusedBytes> = { read: () => null };

function refusedVariable(name: string): Variable<RefusedBytes> {
  return refusedVariables[name] ?? unknown;
}
