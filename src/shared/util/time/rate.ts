/** Parses `10r/s` or `300r/m`, nginx's notation for a rate, into requests per second; null: invalid. */
export function parseRate(text: string): number | null {
  const match = /^([1-9]\d{0,6})r\/([sm])$/.exec(text);
  return match === null ? null : Number(match[1]) / (match[2] === 's' ? 1 : 60);
}
