import type { Readable } from 'node:stream';
import { metricsStream } from '../../metrics/metrics-stream.ts';
import { contentTypes, metricsFormat } from '../../metrics/negotiate.ts';
import type { AdminDependencies } from '../contract.ts';
import type { AdminRequest, AdminRoute, Answer } from '../http/admin-route.ts';
import { plainError } from '../http/http-error.ts';

/** Maximum simultaneous scrapes, over all listeners. */
const maxScrapes = 4;
/** Milliseconds after which a scrape that is not read is cut off. */
const readTimeout = 60_000;

/**
 * `GET /metrics`: all metrics of the node, in the formats of Prometheus and OpenMetrics. Creates the route for each listener; they
 * share the maximum of scrapes.
 */
export function metricsRoute({ metrics }: AdminDependencies): AdminRoute {
  return {
    path: '/metrics',
    tag: 'node',
    operations: {
      GET: {
        access: 'read',
        handle: (request) => scrape(metrics, request),
        notes: {
          summary: 'Metrics of the node as text for Prometheus, or as OpenMetrics when `Accept` asks for it',
          answer: 'text',
          otherTypes: ['application/openmetrics-text'],
          otherStatuses: [404, 503],
        },
      },
    },
  };
}

const scrapes = new WeakMap<AdminDependencies['metrics'], number>();

async function scrape(metrics: AdminDependencies['metrics'], { accept }: AdminRequest): Promise<Answer> {
  if (!metrics.enabled()) {
    throw plainError(404, "no metrics: enable the plugin 'prometheus', as in POST /plugins name=prometheus");
  }
  const running = scrapes.get(metrics) ?? 0;
  if (running >= maxScrapes) {
    const json = { message: `${maxScrapes} scrapes are under way; try again` };
    return { status: 503, json, headers: { 'retry-after': '1' } };
  }
  scrapes.set(metrics, running + 1);
  const done = (): void => void scrapes.set(metrics, (scrapes.get(metrics) ?? 1) - 1);
  try {
    const format = metricsFormat(accept);
    const families = await metrics.collect();
    const stream = metricsStream(families, format, (family, error) => metrics.failed(family, error));
    return { status: 200, stream: { type: contentTypes[format], body: bounded(stream, done) } };
  } catch (error) {
    done();
    throw error;
  }
}

function bounded(stream: Readable, done: () => void): Readable {
  const timer = setTimeout(() => stream.destroy(new Error('the client does not read the metrics')), readTimeout);
  stream.once('close', () => {
    clearTimeout(timer);
    done();
  });
  return stream;
}
