/**
 * The health of an address as one 32-bit word, so that a report is one atomic step. Bit 0: unhealthy. A healthy address
 * counts failures of three kinds, an unhealthy one successes; nothing else is ever counted, so these share the upper 24
 * bits. Limits go up to 255, and a counter that reaches its limit starts again, so a byte is enough for each.
 */
export type Counter = 'successes' | 'httpFailures' | 'tcpFailures' | 'timeouts';

const shifts: Readonly<Record<Counter, number>> = { successes: 8, httpFailures: 8, tcpFailures: 16, timeouts: 24 };

export interface HealthCounts {
  readonly healthy: boolean;
  readonly successes: number;
  readonly httpFailures: number;
  readonly tcpFailures: number;
  readonly timeouts: number;
}

export function isHealthyWord(word: number): boolean {
  return (word & 1) === 0;
}

export function countOf(word: number, counter: Counter): number {
  if (isHealthyWord(word) === (counter === 'successes')) return 0;
  return (word >>> shifts[counter]) & 255;
}

/** Increments this counter. The word must be one in which it counts. */
export function counted(word: number, counter: Counter): number {
  return countOf(word, counter) === 255 ? word : (word + (1 << shifts[counter])) | 0;
}

/** A word without any counts. */
export function healthWord(healthy: boolean): number {
  return healthy ? 0 : 1;
}

export function countsOf(word: number): HealthCounts {
  return {
    healthy: isHealthyWord(word),
    successes: countOf(word, 'successes'),
    httpFailures: countOf(word, 'httpFailures'),
    tcpFailures: countOf(word, 'tcpFailures'),
    timeouts: countOf(word, 'timeouts'),
  };
}
