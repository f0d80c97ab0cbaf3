/**
 * What the backend says that a request cost: `video=2, image=1`, in any number of header lines. Names without a limit and
 * what is no whole number are left out, and so is what costs nothing; of a name that comes again, the last counts.
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
