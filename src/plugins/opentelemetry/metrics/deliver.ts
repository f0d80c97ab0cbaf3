import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpSender } from '../../../plugin-sdk/http-sender.ts';
import { otlpAnswer } from '../../../plugin-sdk/otlp/answer.ts';
import type { QueueLimits } from '../../../plugin-sdk/queue-settings.ts';
import type { MetricsMessage } from './requests.ts';

export interface DeliveryOptions {
  readonly sender: HttpSender;
  readonly limits: Pick<QueueLimits, 'firstPause' | 'longestPause'>;
  /** On the monotonic clock: nothing is tried again after it. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/**
 * `dropped`: another message may fare better. `late`: the time is over, and the receiver takes nothing; `wait` are the milliseconds for
 * which it does not want to be asked.
 */
export type Delivery =
  | { readonly outcome: 'taken'; readonly rejected: number; readonly message: string }
  | { readonly outcome: 'dropped'; readonly reason: string }
  | { readonly outcome: 'late'; readonly reason: string; readonly wait: number };

/** Delivers one message, as the specification of OTLP/HTTP has it: tried again with growing pauses, or when the receiver says. */
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
    // Ended by the signal: then the next attempt fails at once.
    await sleep(pause, undefined, { signal, ref: false }).catch(() => {});
  }
}

/** Twice as long each time, and not the same for all nodes. */
function pauseAfter(failures: number, { firstPause, longestPause }: DeliveryOptions['limits']): number {
  const full = Math.min(firstPause * 2 ** Math.min(failures, 40), longestPause);
  return full * (0.5 + Math.random() / 2);
}
