import type { AddressZone } from '../../balancer/address-zone.ts';
import type { PluginLogger } from '../../plugin-sdk/define-plugin.ts';
import { equalSecrets } from '../../plugin-sdk/secrets.ts';
import type { Exchange } from '../exchange.ts';
import type { ProxyOptions } from '../options.ts';
import { TraceRecorder } from '../trace-recorder.ts';
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

/** Longer ones are no tokens; nobody is to have them hashed. */
const longestToken = 1024;

/**
 * Sees to requests that carry the debug token: their answers tell how long everything took (`Server-Timing`,
 * `X-Kong-Request-Debug-Output`), or are an explanation. Other requests never come here, or go on as if they had not.
 */
export class Explainer {
  readonly #parts: ExplainerParts;

  constructor(parts: ExplainerParts) {
    this.#parts = parts;
  }

  /** To be called before anything else happens to a request with debug fields. */
  begin(x: Exchange): void {
    const fields = x.head.debug;
    if (fields === null || !this.#knows(fields.tokens)) return;
    const mode = explainMode(fields.explain);
    const { options, zone, log } = this.#parts;
    const recorder = mode.explain ? new ExplainRecorder(x, zone) : new TraceRecorder(x.startedAt - x.startedMono);
    x.trace = recorder;
    const told = {
      recorder,
      options,
      filter: debugFilter(fields.requestDebug),
      logged: fields.log.length === 1 && fields.log[0] === 'true',
      log,
    };
    if (recorder instanceof ExplainRecorder) x.downstream = new ExplainedDownstream(x, mode, recorder, told);
    else x.downstream = new DebuggedDownstream(x.downstream, told);
  }

  /** One token, and the right one. */
  #knows(tokens: readonly string[]): boolean {
    const [token, second] = tokens;
    if (token === undefined || second !== undefined || token.length > longestToken) return false;
    return equalSecrets(token, this.#parts.token);
  }
}
