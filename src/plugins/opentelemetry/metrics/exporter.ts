import { type HttpSender, httpSender, type QueueLimits, queueLimits } from '../../../plugin-kit/delivery/index.ts';
import { OutageLog, throttledLog } from '../../../plugin-kit/logging/index.ts';
import { type OtlpFamily, resourceOf } from '../../../plugin-kit/telemetry/otlp/index.ts';
import type { BackgroundTools } from '../../../plugin-sdk/index.ts';
import { durationZone } from '../zones.ts';
import { deliver } from './deliver.ts';
import { openDurations } from './duration-families.ts';
import { type MetricsConfig, recordsRequests } from './metrics-config.ts';
import { type MetricsMessage, metricsMessages } from './requests.ts';
import type { StartTimes } from './start-times.ts';

type ExporterTools = Pick<BackgroundTools, 'log' | 'settings' | 'nodeId' | 'zone' | 'metrics' | 'count'>;

/** Timeout of the last export, when the node ends or the configuration changes. Milliseconds. */
const lastPushTime = 2_000;
const quiet = 60_000;

export interface MetricsExporterOptions {
  readonly instanceId: string;
  readonly config: MetricsConfig & { readonly metrics: { readonly endpoint: string } };
  readonly starts: StartTimes;
  readonly tools: ExporterTools;
}

/** Exports the metrics of one instance periodically. Exports never overlap. */
export class MetricsExporter {
  readonly #options: MetricsExporterOptions;
  readonly #sender: HttpSender;
  readonly #limits: QueueLimits;
  readonly #ending = new AbortController();
  readonly #outage: OutageLog;
  readonly #reportMissing: (reason: string) => void;
  readonly #reportRejected: (message: string) => void;
  #durations: readonly OtlpFamily[] = [];
  #timer: NodeJS.Timeout;
  #pushing: Promise<void> = Promise.resolve();
  #stopped = false;
  /** The receiver accepts no requests before this time; on the monotonic clock. */
  #quietUntil = 0;

  constructor(options: MetricsExporterOptions) {
    this.#options = options;
    const { config, tools } = options;
    this.#sender = openSender(config, tools);
    this.#limits = queueLimits(config.queue);
    this.#outage = new OutageLog(tools.log, 'metrics could not be delivered', { untilSuccess: true });
    this.#reportMissing = throttledLog(quiet, (reason, suppressed) =>
      tools.log.error('metrics are missing', { reason, ...(suppressed > 0 ? { suppressed } : {}) }),
    );
    this.#reportRejected = throttledLog(quiet, (message) =>
      tools.log.warn('the receiver did not take all metrics', { message }),
    );
    this.#timer = this.#schedule();
  }

  /** Exports once more, and ends. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    const deadline = performance.now() + lastPushTime;
    const end = setTimeout(() => this.#ending.abort(), lastPushTime);
    await this.#pushing;
    if (!this.#ending.signal.aborted) await this.#push(deadline);
    clearTimeout(end);
    this.#ending.abort();
    this.#sender.close();
  }

  #schedule(): NodeJS.Timeout {
    return setTimeout(() => {
      const { push_interval } = this.#options.config.metrics;
      const time = Math.min(push_interval * 1000, this.#limits.retryTime);
      this.#pushing = this.#push(performance.now() + time).finally(() => {
        if (!this.#stopped) this.#timer = this.#schedule();
      });
    }, this.#options.config.metrics.push_interval * 1000).unref();
  }

  /** Never rejects. */
  async #push(deadline: number): Promise<void> {
    if (performance.now() < this.#quietUntil) return;
    try {
      const { config, tools, starts } = this.#options;
      const messages = metricsMessages({
        families: await this.#families(),
        resource: resourceOf({ id: tools.nodeId }, config.resource_attributes),
        starts,
        now: Date.now(),
        failed: (family, error) => this.#reportMissing(`${family}: ${textOf(error)}`),
      });
      for await (const message of messages) {
        if (!(await this.#deliver(message, deadline))) break;
      }
    } catch (error) {
      this.#outage.failed(error);
    }
  }

  /** False: this export ends. The next one includes the missing values, since sums are cumulative. */
  async #deliver(message: MetricsMessage, deadline: number): Promise<boolean> {
    const { count } = this.#options.tools;
    const { signal } = this.#ending;
    const delivery = await deliver(message, { sender: this.#sender, limits: this.#limits, deadline, signal });
    if (delivery.outcome === 'taken') {
      this.#outage.succeeded();
      // The receiver sends the number.
      const rejected = Math.min(delivery.rejected, message.points);
      count('metric_points_sent', message.points - rejected);
      if (rejected > 0) count('metric_points_rejected', rejected);
      if (rejected > 0 || delivery.message !== '') {
        this.#reportRejected(`${rejected} of ${message.points} points: ${delivery.message}`);
      }
      return true;
    }
    count('metric_points_dropped', message.points);
    this.#outage.failed(delivery.reason);
    if (delivery.outcome === 'dropped') return true;
    this.#quietUntil = performance.now() + delivery.wait;
    return false;
  }

  async #families(): Promise<readonly OtlpFamily[]> {
    const { config, tools } = this.#options;
    const node = config.metrics.node_metrics ? await tools.metrics() : [];
    if (!recordsRequests(config)) return node;
    return [...this.#durationFamilies(), ...node];
  }

  /** The memory is created for the workers, possibly later. */
  #durationFamilies(): readonly OtlpFamily[] {
    const { instanceId, tools } = this.#options;
    if (this.#durations.length === 0) {
      this.#durations = (['server', 'client'] as const).flatMap((kind) => {
        const memory = tools.zone(instanceId, durationZone(kind, instanceId));
        return memory === null ? [] : [openDurations(kind, memory)];
      });
    }
    return this.#durations;
  }
}

function openSender(config: MetricsExporterOptions['config'], { settings }: ExporterTools): HttpSender {
  return httpSender({
    url: config.metrics.endpoint,
    headers: config.headers ?? {},
    connectTimeout: Math.max(1, config.connect_timeout ?? 1000),
    sendTimeout: Math.max(1, config.send_timeout ?? 5000),
    readTimeout: Math.max(1, config.read_timeout ?? 5000),
    trustedCertificates: settings.trustedCertificates,
  });
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
