/** What one import may cost. A source that exceeds a limit ends the import before anything is written. */
export interface SourceLimits {
  /** Milliseconds for one request, with its body. */
  readonly requestTimeout: number;
  /** Milliseconds for all requests together. */
  readonly totalTimeout: number;
  /** Bytes of one answer. */
  readonly maxAnswerBytes: number;
  /** Bytes of all answers. */
  readonly maxTotalBytes: number;
  /** Entities of all collections. */
  readonly maxEntities: number;
  /** Tries of one request, the first included. */
  readonly attempts: number;
}

export const sourceLimits: SourceLimits = {
  requestTimeout: 30_000,
  totalTimeout: 900_000,
  maxAnswerBytes: 64 * 1024 * 1024,
  maxTotalBytes: 1024 * 1024 * 1024,
  maxEntities: 1_000_000,
  attempts: 4,
};
