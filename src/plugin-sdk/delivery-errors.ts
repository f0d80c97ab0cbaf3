/** What `send` of a `DeliveryQueue` rejects with when trying again would not help: the batch is dropped at once. */
export class DeliveryRefused extends Error {
  override readonly name = 'DeliveryRefused';
}

/**
 * What it rejects with when the receiver has said how long it is to be left alone: the next attempt comes after that, even when
 * `max_retry_time` is over by then, and it is the last one in that case.
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
