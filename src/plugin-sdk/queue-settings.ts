/** The `queue` record of a plugin's configuration, as `queueField` of the schema makes it. What is null has its default. */
export interface QueueSettings {
  /** Entries that are sent at once. Default 1. */
  readonly max_batch_size: number | null;
  /** Seconds that entries wait for more of them. Default 1. */
  readonly max_coalescing_delay: number | null;
  /** Entries that are kept, those on their way included. Default 10,000. */
  readonly max_entries: number | null;
  /** Bytes that are kept, those on their way included. Default 16 MiB; Kong has no bound. */
  readonly max_bytes: number | null;
  /** Seconds after which a batch is tried no more. Default 60. */
  readonly max_retry_time: number | null;
  /** Seconds until the second attempt; it is twice as long before each further one. Default 0.01. */
  readonly initial_retry_delay: number | null;
  /** Seconds between two attempts at most. Default 60. */
  readonly max_retry_delay: number | null;
  /** 1: a batch is sent when the one before it is done. -1: many at the same time. Default 1. */
  readonly concurrency_limit: number | null;
}

/** Fields of old versions that stand for some of the queue. */
export interface LegacyQueueFields {
  readonly retry_count?: number | null;
  readonly queue_size?: number | null;
  readonly flush_timeout?: number | null;
}

/** The same, to count with: milliseconds, and no nulls. */
export interface QueueLimits {
  readonly maxBatchSize: number;
  readonly delay: number;
  readonly maxEntries: number;
  readonly maxBytes: number;
  readonly retryTime: number;
  readonly firstPause: number;
  readonly longestPause: number;
  /** Batches on their way at the same time. */
  readonly atOnce: number;
}

const defaultMaxBytes = 16 * 2 ** 20;

/** What "unlimited" concurrency comes to: more connections would only make a slow receiver slower. */
const mostAtOnce = 32;

/**
 * The queue that a configuration asks for, `queue_size` and `flush_timeout` counted in: as in Kong they win over
 * `max_batch_size` and `max_coalescing_delay`, and `retry_count` means nothing any more.
 */
export function queueSettings(config: { readonly queue: QueueSettings } & LegacyQueueFields): QueueSettings {
  const { queue, queue_size, flush_timeout } = config;
  return {
    ...queue,
    ...(queue_size == null ? {} : { max_batch_size: queue_size }),
    ...(flush_timeout == null ? {} : { max_coalescing_delay: flush_timeout }),
  };
}

export function queueLimits(settings: QueueSettings): QueueLimits {
  const maxEntries = settings.max_entries ?? 10_000;
  return {
    // A batch that the queue has no room for would never be full.
    maxBatchSize: Math.min(settings.max_batch_size ?? 1, maxEntries),
    delay: (settings.max_coalescing_delay ?? 1) * 1000,
    maxEntries,
    maxBytes: settings.max_bytes ?? defaultMaxBytes,
    retryTime: (settings.max_retry_time ?? 60) * 1000,
    firstPause: (settings.initial_retry_delay ?? 0.01) * 1000,
    longestPause: (settings.max_retry_delay ?? 60) * 1000,
    atOnce: settings.concurrency_limit === -1 ? mostAtOnce : 1,
  };
}
