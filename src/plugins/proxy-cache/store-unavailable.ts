/** A store does not answer. Its message is fit for the error log. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}
