import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpSender, QueueLimits } from '../../../plugin-kit/delivery/index.ts';
import { otlpAnswer } from '../../../plugin-kit/telemetry/otlp/index.ts';
import type { MetricsMessage } from './requests.ts';

export interface DeliveryOptions {
  readonly sender: HttpSender;
  readonly limits: Pick<QueueLimits, 'firstPause' | 'maxPause'>;
  /** On the monotonic clock: no retries after it. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/**
 * `dropped`: the next message may succeed. `late`: the deadline has passed and the receiver is unavailable; `wait`: milliseconds
 * until it accepts requests again.
 */
export type Delivery =
  | { readonly outcome: 'taken'; readonly rejected: number; readonly message: string }
  | { readonly outcome: 'dropped'; readonly reason: string }
  | { readonly outcome: 'late'; readonly reason: string; readonly wait: number };

/** Delivers one message by the OTLP/HTTP specification: retries with growing pauses, or when the receiver says. */
export async function deliver({ body }: MetricsMessage, options: DeliveryOptions): Promise<Delivery> {
  const { sender, limits, deadline, signal } = options;
  for (let failures = 0; ; failures++) {
    let reason: string;
    let wait = 0;
    try {
      const { status, retryAfter, body: answer } = await sender.exchange(body, 'application/x-protobuf', signal);
      const outcome = otlpAnswer(status, retryAfter, answer);
      if (outcome.kind === 'taken') return { outcome: 'taken', rejected: outcome.rejected, message: outcome.message };
      if (outcome.kind === 'refused') return { outcome: 'dropped', reason: outcome.reason };
      ({ reason, wait } = outcome);
    } catch (error) {
      reason = error instanceof Error ? error.message : 'unknown';
    }
    const pause = Math.max(wait, pauseAfter(failures, limits));
    if (signal.aborted || performance.now() + pause > deadline) return { outcome: 'late', reason, wait };
    // Aborted by the signal: then the next attempt fails at once.
    await sleep(pause, undefined, { signal, ref: false }).catch(() => {});
  }
}

/** Exponential backoff with jitter, so that nodes do not retry together. */
function pauseAfter(failures: number, { firstPause, maxPause }: DeliveryOptions['limits']): number {
  const full = Math.min(firstPause * 2 ** Math.min(failures, 40), maxPause);
  return full * (0.5 + Math.random() / 2);
}
