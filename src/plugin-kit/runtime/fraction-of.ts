import { hash } from 'node:crypto';

/**
 * A number from 0 to below 1 for a key: always the same one on all workers and nodes, and evenly distributed. Sample with it where all
 * requests of a key must have the same result; `context.draw` is random for each request.
 *
 * @param salt Makes samples of different purposes independent, such as the id of the instance. Default: ''.
 *
 * @example
 * const isInBeta = fractionOf(consumer.id, tools.instanceId) < 0.1;
 */
export function fractionOf(key: string, salt = ''): number {
  return Number.parseInt(hash('sha256', JSON.stringify([salt, key])).slice(0, 13), 16) / 2 ** 52;
}
