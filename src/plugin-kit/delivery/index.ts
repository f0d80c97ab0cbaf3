/**
 * Sends data to other servers without delaying requests: `sluicegate/plugin-kit/delivery`. `DeliveryQueue` batches, retries and
 * bounds what waits; `httpSender`, `textSender` (TCP, TLS, Unix socket), `openDatagrams` (UDP) and `openLineFile` send.
 *
 * @example
 * const times = { connectTimeout: 2000, sendTimeout: 5000, readTimeout: 5000 };
 * const sender = httpSender({ url: config.endpoint, ...times, trustedCertificates: null });
 * const queue = new DeliveryQueue<string>({
 *   settings: queueSettings(config), // config.queue is a queueField of plugin-kit/fields
 *   async send(batch, signal) {
 *     const status = await sender.send(`[${batch.join()}]`, 'application/json', signal);
 *     if (status >= 400) throw new Error(`the receiver responded with ${status}`); // tried again
 *   },
 *   tools,
 *   what: 'log records',
 * });
 * queue.push(JSON.stringify(context.record())); // in log; then drain: () => queue.drain()
 */

export { type DatagramOptions, type Datagrams, maxDatagramSize, openDatagrams } from './datagrams.ts';
export { DeliveryDeferred, DeliveryRefused } from './delivery-errors.ts';
export { type HttpSender, type HttpSenderOptions, httpSender, type SenderAnswer, SenderFailed } from './http-sender.ts';
export { type LineFile, type LineFileOptions, openLineFile } from './line-file.ts';
export { DeliveryQueue, type QueueOptions } from './queue.ts';
export type { QueueBuffer } from './queue-buffer.ts';
export {
  type LegacyQueueFields,
  type QueueLimits,
  type QueueSettings,
  queueLimits,
  queueSettings,
} from './queue-settings.ts';
export { type TextBatch, type TextJoining, TextQueueBuffer } from './text-queue-buffer.ts';
export { type TextSender, type TextSenderOptions, type TextSenderTls, textSender } from './text-sender.ts';
