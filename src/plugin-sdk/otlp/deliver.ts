import { setTimeout as pause } from 'node:timers/promises';
import { nowAndThen } from '../../util/now-and-then.ts';
import type { PluginTools } from '../define-plugin.ts';
import type { HttpSender } from '../http-sender.ts';
import { DeliveryRefused } from '../queue.ts';
import { otlpAnswer } from './answer.ts';

/**
 * Sends messages of OTLP/HTTP, for `send` of a `DeliveryQueue`: rejects with a `DeliveryRefused` when another attempt would not
 * help, and, after the pause that the receiver asks for, with another error when it would. What a receiver does not want of a message
 * that it takes is counted as `entries_rejected`.
 */
export function otlpSend(
  sender: HttpSender,
  tools: Pick<PluginTools, 'count' | 'log'>,
): (message: Uint8Array, signal: AbortSignal) => Promise<void> {
  const tellRejected = nowAndThen(10_000, (message, unsaid) =>
    tools.log.warn('the receiver rejected some entries', { message, ...(unsaid === 0 ? {} : { times: unsaid + 1 }) }),
  );
  return async (message, signal) => {
    const { status, retryAfter, body } = await sender.exchange(message, 'application/x-protobuf', signal);
    const answer = otlpAnswer(status, retryAfter, body);
    if (answer.kind === 'refused') throw new DeliveryRefused(answer.reason);
    if (answer.kind === 'later') {
      if (answer.wait > 0) await pause(answer.wait, undefined, { signal, ref: false });
      throw new Error(answer.reason);
    }
    if (answer.rejected === 0) return;
    tools.count('entries_rejected', answer.rejected);
    tellRejected(answer.message);
  };
}
