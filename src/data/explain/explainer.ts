import { equalSecrets } from '../../plugin-kit/auth/secrets.ts';
import type { PluginLogger } from '../../plugin-sdk/tools.ts';
import type { AddressZone } from '../../shared/zones/address-zone.ts';
import { TraceRecorder } from '../answer/trace-recorder.ts';
import type { Exchange } from '../request/exchange.ts';
import type { ProxyOptions } from '../request/options.ts';
import { debugFilter } from './debug-output.ts';
import { DebuggedDownstream } from './debugged-downstream.ts';
import { explainMode } from './explain-mode.ts';
import { ExplainRecorder } from './explain-recorder.ts';
import { ExplainedDownstream } from './explained-downstream.ts';

export interface ExplainerParts {
  /** The debug token. */
  readonly token: string;
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

  /** Call this before anything else happens to a request with debug fields. */
  begin(x: Exchange): void {
    const fields = x.head.debug;
    if (fields === null || !this.#knows(fields.tokens)) return;
    const mode = explainMode(fields.explain);
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
  }

  /** Exactly one token, and the right one. */
  #knows(tokens: readonly string[]): boolean {
    const [token, second] = tokens;
    if (token === undefined || second !== undefined || token.length > maxTokenLength) return false;
    return equalSecrets(token, this.#parts.token);
  }
}
