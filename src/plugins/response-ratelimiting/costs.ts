/**
 * The costs of a request from the backend's header: `video=2, image=1`, on any number of lines. Names without a limit, values
 * that are not integers, and zero costs are ignored; of a repeated name the last value counts.
 */
export function parseCosts(lines: readonly string[], names: ReadonlySet<string>): ReadonlyMap<string, number> {
  const costs = new Map<string, number>();
  for (const line of lines) {
    for (const part of line.split(',')) {
      const equals = part.indexOf('=');
      if (equals < 0) continue;
      const name = part.slice(0, equals).trim();
      const amount = part.slice(equals + 1).trim();
      if (!names.has(name) || !isCount(amount)) continue;
      if (Number(amount) === 0) costs.delete(name);
      else costs.set(name, Number(amount));
    }
  }
  return costs;
}

function isCount(text: string): boolean {
  return /^[0-9]{1,15}$/.test(text);
}
