/** The `queue` record of a plugin's configuration, as `queueField` of the schema makes it. Null fields have their defaults. */
export interface QueueSettings {
  /** Entries that are sent at once. Default 1. */
  readonly max_batch_size: number | null;
  /** Seconds that entries wait for more of them. Default 1. */
  readonly max_coalescing_delay: number | null;
  /** Entries that are kept, those in flight included. Default 10,000. */
  readonly max_entries: number | null;
  /** Bytes that are kept, those in flight included. Default 16 MiB; Kong has no bound. */
  readonly max_bytes: number | null;
  /** Seconds after which a batch is dropped instead of tried again. Default: 60. */
  readonly max_retry_time: number | null;
  /** Seconds until the second attempt; it is twice as long before each further one. Default 0.01. */
  readonly initial_retry_delay: number | null;
  /** Maximum of that delay, in seconds. Default: 60. */
  readonly max_retry_delay: number | null;
  /** 1: a batch is sent when the one before it is done. -1: many at the same time. Default 1. */
  readonly concurrency_limit: number | null;
}

/** Fields of old versions of Kong that set parts of the queue. */
export interface LegacyQueueFields {
  readonly retry_count?: number | null;
  readonly queue_size?: number | null;
  readonly flush_timeout?: number | null;
}

/** The settings with their defaults, in milliseconds. */
export interface QueueLimits {
  readonly maxBatchSize: number;
  /** Milliseconds that entries wait for more of them. */
  readonly delay: number;
  readonly maxEntries: number;
  readonly maxBytes: number;
  /** Milliseconds after which a batch is dropped. */
  readonly retryTime: number;
  /** Milliseconds until the second attempt. */
  readonly firstPause: number;
  /** Maximum milliseconds between two attempts. */
  readonly maxPause: number;
  /** Maximum number of batches in flight. */
  readonly atOnce: number;
}

const defaultMaxBytes = 16 * 2 ** 20;

/** The meaning of "unlimited" concurrency: more connections would only make a slow receiver slower. */
const maxAtOnce = 32;

/**
 * The queue settings of a configuration. As in Kong, `queue_size` and `flush_timeout` override `max_batch_size` and
 * `max_coalescing_delay`, and `retry_count` has no effect.
 */
export function queueSettings(config: { readonly queue: QueueSettings } & LegacyQueueFields): QueueSettings {
  const { queue, queue_size, flush_timeout } = config;
  return {
    ...queue,
    ...(queue_size == null ? {} : { max_batch_size: queue_size }),
    ...(flush_timeout == null ? {} : { max_coalescing_delay: flush_timeout }),
  };
}

/** Applies the defaults. */
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
    maxPause: (settings.max_retry_delay ?? 60) * 1000,
    atOnce: settings.concurrency_limit === -1 ? maxAtOnce : 1,
  };
}
