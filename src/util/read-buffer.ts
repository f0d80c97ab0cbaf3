/**
 * One buffer that all sockets of a worker read into: a read's bytes are used up during its callback, so no read
 * allocates, and an idle connection holds no memory for reading.
 */
export const sharedReadBuffer: Buffer = Buffer.allocUnsafeSlow(65_536);
