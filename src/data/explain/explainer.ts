import { equalSecrets } from '../../plugin-kit/auth/secrets.ts';
import type { PluginLogger } from '../../plugin-sdk/tools.ts';
import { canonicalIp } from '../../shared/util/net/ip-address.ts';
import type { TrustedPeers } from '../../shared/util/net/trusted-peers.ts';
import type { AddressZone } from '../../shared/zones/address-zone.ts';
import { TraceRecorder } from '../answer/trace-recorder.ts';
import type { Exchange } from '../request/exchange.ts';
import type { ProxyOptions } from '../request/options.ts';
import { callerPeer } from './caller-peer.ts';
import { debugFilter } from './debug-output.ts';
import { DebuggedDownstream } from './debugged-downstream.ts';
import { type ExplainCaller, explainMode } from './explain-mode.ts';
import { ExplainRecorder } from './explain-recorder.ts';
import { ExplainedDownstream } from './explained-downstream.ts';

export interface ExplainerParts {
  /** The debug token. */
  readonly token: string;
  /** Proves that a request comes from the Admin API of this node. */
  readonly key: string;
  /** The addresses of `trusted_ips`. */
  readonly trusted: TrustedPeers;
  readonly options: ProxyOptions;
  readonly zone: AddressZone;
  readonly log: PluginLogger;
}

/** Longer values are not tokens; they must not be hashed. */
const maxTokenLength = 1024;

/**
 * Handles requests that carry the debug token: their responses report how long everything took (`Server-Timing`,
 * `X-Kong-Request-Debug-Output`), or are an explanation. Other requests never get here, or continue unaffected.
 */
export class Explainer {
  readonly #parts: ExplainerParts;

  constructor(parts: ExplainerParts) {
    this.#parts = parts;
  }

  /**
   * Call this before anything else happens to a request with debug fields. False: it must be refused, since it claims to be
   * from the Admin API of this node and is not.
   */
  begin(x: Exchange): boolean {
    const fields = x.head.debug;
    if (fields === null || !this.#knows(fields.tokens)) return true;
    const mode = explainMode(fields.explain);
    if (mode.caller !== null && !this.#standsFor(x, mode.caller)) return false;
    const { options, zone, log } = this.#parts;
    const recorder = mode.explain ? new ExplainRecorder(x, zone) : new TraceRecorder(x.startedAt - x.startedMono);
    x.trace = recorder;
    const report = {
      recorder,
      options,
      filter: debugFilter(fields.requestDebug),
      logged: fields.log.length === 1 && fields.log[0] === 'true',
      log,
    };
    if (recorder instanceof ExplainRecorder) x.downstream = new ExplainedDownstream(x, mode, recorder, report);
    else x.downstream = new DebuggedDownstream(x.downstream, report);
    return true;
  }

  /** The request is the caller's from now on. */
  #standsFor(x: Exchange, { ip, key }: ExplainCaller): boolean {
    const caller = canonicalIp(ip);
    if (caller === null || !equalSecrets(key, this.#parts.key)) return false;
    x.peer = callerPeer(x.peer, caller, this.#parts.trusted.has(caller));
    x.clientIp = caller;
    return true;
  }

  /** Exactly one token, and the right one. */
  #knows(tokens: readonly string[]): boolean {
    const [token, second] = tokens;
    if (token === undefined || second !== undefined || token.length > maxTokenLength) return false;
    return equalSecrets(token, this.#parts.token);
  }
}
