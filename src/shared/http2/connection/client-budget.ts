/** Requests that a client resets, and malformed ones: burst, and rate per second. The former cost work at backends. */
export const resetBurst = 200;
export const resetRate = 20;

/** Streams above the limit: a client may open some before it has received it. */
export const refusedBurst = 500;
export const refusedRate = 50;
