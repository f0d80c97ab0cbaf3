/**
 * One buffer that all sockets of a worker read into: the bytes of a read are consumed during its callback, so no read
 * allocates, and an idle connection holds no memory for reading.
 */
export const sharedReadBuffer: Buffer = Buffer.allocUnsafeSlow(65_536);
