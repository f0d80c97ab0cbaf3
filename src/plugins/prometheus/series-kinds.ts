/*
 * The series that workers write and the control plane reads. Three memories, by the number of cells of a series; the first label
 * is its kind: a request, a stream or both.
 */

/** Zones and the cells of their series. */
export const requestsZone = { name: 'requests', cells: 1 } as const;
export const bytesZone = { name: 'bytes', cells: 3 } as const;

/** Upper bounds in milliseconds. */
export const gatewayBounds: readonly number[] = [
  1, 2, 5, 7, 10, 15, 20, 30, 50, 75, 100, 200, 500, 750, 1000, 3000, 6000,
];
export const upstreamBounds: readonly number[] = [
  25, 50, 80, 100, 250, 400, 700, 1000, 2000, 5000, 10_000, 30_000, 60_000,
];

/** Offsets of a route's histograms: the buckets, one more than bounds, then the sum. */
export const gatewayAt = 0;
export const upstreamAt: number = gatewayAt + gatewayBounds.length + 2;
export const totalAt: number = upstreamAt + upstreamBounds.length + 2;
export const timesZone = { name: 'times', cells: totalAt + upstreamBounds.length + 2 } as const;

/** The first label. */
export const ofRequests = 'http';
export const ofStreams = 'stream';
/** Bytes of requests and streams are one family: a route for requests may become one for streams. */
export const ofBoth = 'both';

/** Cells of `bytesZone`. */
export const ingress = 0;
export const egress = 1;
/** Number of additions. */
export const additions = 2;
