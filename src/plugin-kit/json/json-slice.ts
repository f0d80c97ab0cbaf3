import type { Selector } from './json-query.ts';

type Slice = Extract<Selector, { kind: 'slice' }>;

/** The bounds of a slice in an array (RFC 9535 2.3.4.2): from `lower` below `upper`; with a negative step from `upper` above `lower`. */
export function sliceOf(
  { start, end, step }: Slice,
  length: number,
): { readonly lower: number; readonly upper: number; readonly step: number } {
  const normal = (at: number) => (at >= 0 ? at : length + at);
  const bounded = (at: number, low: number, high: number) => Math.min(Math.max(at, low), high);
  if (step >= 0) {
    const lower = bounded(normal(start ?? 0), 0, length);
    return { lower, upper: bounded(normal(end ?? length), 0, length), step };
  }
  const upper = bounded(normal(start ?? length - 1), -1, length - 1);
  return { lower: end === null ? -1 : bounded(normal(end), -1, length - 1), upper, step };
}

/** True for an element that the slice selects. */
export function inSlice(slice: Slice, index: number, length: number): boolean {
  const { lower, upper, step } = sliceOf(slice, length);
  if (step === 0) return false;
  if (step > 0) return index >= lower && index < upper && (index - lower) % step === 0;
  return index > lower && index <= upper && (upper - index) % -step === 0;
}
