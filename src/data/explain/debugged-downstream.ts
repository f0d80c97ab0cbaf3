import type { PluginLogger } from '../../plugin-sdk/tools.ts';
import { serverTiming } from '../answer/server-timing.ts';
import type { TraceRecorder } from '../answer/trace-recorder.ts';
import type { Downstream, Exchange } from '../request/exchange.ts';
import type { ProxyOptions } from '../request/options.ts';
import { WrappedDownstream } from '../request/wrapped-downstream.ts';
import { type DebugFilter, debugOutput } from './debug-output.ts';
import { timingDetail } from './timing-detail.ts';

/** What is reported about a request with the debug token. */
export interface DebugReport {
  readonly recorder: TraceRecorder;
  readonly options: ProxyOptions;
  /** The parts that `X-Kong-Request-Debug` requests; null: none. */
  readonly filter: DebugFilter | null;
  /** The output is also written to the error log. */
  readonly logged: boolean;
  readonly log: PluginLogger;
}

/** Wraps the client of a request with the debug token: the head of its response reports how long everything took. */
export class DebuggedDownstream extends WrappedDownstream {
  protected readonly report: DebugReport;

  constructor(client: Downstream, report: DebugReport) {
    super(client);
    this.report = report;
  }

  override sendHead(x: Exchange, bodyLength: number): void {
    x.responseBlock += this.timingLines(x);
    super.sendHead(x, bodyLength);
  }

  /** The header lines of the report. */
  protected timingLines(x: Exchange): string {
    const { recorder, options, filter, logged, log } = this.report;
    const detail = timingDetail(recorder.spans);
    const timing = [...(options.serverTiming ? [] : [serverTiming(x)]), ...(detail === '' ? [] : [detail])].join(', ');
    let lines = timing === '' ? '' : `Server-Timing: ${timing}\r\n`;
    if (filter !== null) {
      const output = debugOutput(x, recorder.spans, filter);
      lines += `X-Kong-Request-Debug-Output: ${output}\r\n`;
      // Kong's level for it is `notice`.
      if (logged) log.warn('request debug', { request_id: x.id, output });
    }
    return lines;
  }
}
