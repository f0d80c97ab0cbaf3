/** Requests per second of `10r/s` or `300r/m`; null: that is no rate. */
export function parseRate(text: string): number | null {
  const match = /^([1-9][0-9]{0,6})r\/([sm])$/.exec(text);
  return match === null ? null : Number(match[1]) / (match[2] === 's' ? 1 : 60);
}
