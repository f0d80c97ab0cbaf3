import type { PluginTools } from '../../../plugin-sdk/tools.ts';
import { throttledLog } from '../../../shared/util/time/throttled-log.ts';
import { DeliveryDeferred, DeliveryRefused } from '../../delivery/delivery-errors.ts';
import type { HttpSender } from '../../delivery/http-sender.ts';
import { otlpAnswer } from './answer.ts';

/**
 * Sends messages of OTLP/HTTP, for `send` of a `DeliveryQueue`. Entries that the receiver rejects from an accepted message
 * are counted as `entries_rejected`.
 */
export function otlpSend(
  sender: HttpSender,
  tools: Pick<PluginTools, 'count' | 'log'>,
): (message: Uint8Array, entries: number, signal: AbortSignal) => Promise<void> {
  const reportRejected = throttledLog(10_000, (message, suppressed) =>
    tools.log.warn('the receiver rejected some entries', { message, ...(suppressed === 0 ? {} : { suppressed }) }),
  );
  return async (message, entries, signal) => {
    const { status, retryAfter, body } = await sender.exchange(message, 'application/x-protobuf', signal);
    const answer = otlpAnswer(status, retryAfter, body);
    if (answer.kind === 'refused') throw new DeliveryRefused(`${sender.receiver} ${answer.reason}`);
    if (answer.kind === 'later') throw new DeliveryDeferred(`${sender.receiver} ${answer.reason}`, answer.wait);
    if (answer.rejected === 0) return;
    // The receiver sends the number.
    tools.count('entries_rejected', Math.min(answer.rejected, entries));
    reportRejected(answer.message);
  };
}
