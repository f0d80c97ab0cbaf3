/** Of two whole numbers from 0 on; that of 0 and n is n. */
export function greatestCommonDivisor(a: number, b: number): number {
  let divisor = a;
  let rest = b;
  while (rest > 0) {
    const next = divisor % rest;
    divisor = rest;
    rest = next;
  }
  return divisor;
}
