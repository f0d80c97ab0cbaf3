/** Reject `send` of a `DeliveryQueue` with it when another attempt would not help: the batch is dropped at once. */
export class DeliveryRefused extends Error {
  override readonly name = 'DeliveryRefused';
}

/**
 * Reject `send` of a `DeliveryQueue` with it when the receiver says when to try again (`Retry-After`). The next attempt is made
 * then. If `max_retry_time` is over by then, it is the last one.
 */
export class DeliveryDeferred extends Error {
  override readonly name = 'DeliveryDeferred';
  /** Milliseconds. */
  readonly wait: number;

  constructor(message: string, wait: number) {
    super(message);
    this.wait = wait;
  }
}
