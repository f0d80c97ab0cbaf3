import { nowAndThen } from '../../util/now-and-then.ts';
import type { PluginTools } from '../define-plugin.ts';
import { DeliveryDeferred, DeliveryRefused } from '../delivery-errors.ts';
import type { HttpSender } from '../http-sender.ts';
import { otlpAnswer } from './answer.ts';

/**
 * Sends messages of OTLP/HTTP, for `send` of a `DeliveryQueue`. What a receiver does not want of the `entries` of a message that it takes
 * is counted as `entries_rejected`.
 */
export function otlpSend(
  sender: HttpSender,
  tools: Pick<PluginTools, 'count' | 'log'>,
): (message: Uint8Array, entries: number, signal: AbortSignal) => Promise<void> {
  const tellRejected = nowAndThen(10_000, (message, unsaid) =>
    tools.log.warn('the receiver rejected some entries', { message, ...(unsaid === 0 ? {} : { unsaid }) }),
  );
  return async (message, entries, signal) => {
    const { status, retryAfter, body } = await sender.exchange(message, 'application/x-protobuf', signal);
    const answer = otlpAnswer(status, retryAfter, body);
    if (answer.kind === 'refused') throw new DeliveryRefused(`${sender.receiver} ${answer.reason}`);
    if (answer.kind === 'later') throw new DeliveryDeferred(`${sender.receiver} ${answer.reason}`, answer.wait);
    if (answer.rejected === 0) return;
    // The number is the receiver's.
    tools.count('entries_rejected', Math.min(answer.rejected, entries));
    tellRejected(answer.message);
  };
}
