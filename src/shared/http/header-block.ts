/**
 * A header block is a latin1 string of validated lines, `Name: value\r\n` each, without the empty line at the end. Both
 * engines pass it to the data plane: it is parsed into a map only on demand.
 */

/** First value of a header, or null. `name` must be lower case. */
export function headerValue(block: string, name: string): string | null {
  const at = findHeader(block, name, 0);
  return at < 0 ? null : valueAt(block, at + name.length + 1);
}

/** All values of a header, in order. `name` must be lower case. */
export function headerValues(block: string, name: string): readonly string[] {
  const first = findHeader(block, name, 0);
  if (first < 0) return none;
  const values: string[] = [];
  for (let at = first; at >= 0; at = findHeader(block, name, block.indexOf('\r', at) + 2)) {
    values.push(valueAt(block, at + name.length + 1));
  }
  return values;
}

/** All headers: lower-case names to values in order. */
export function headerMap(block: string): Record<string, string[]> {
  const map: Record<string, string[]> = Object.create(null);
  eachHeader(block, (name, value) => {
    const known = map[name];
    if (known === undefined) map[name] = [value];
    else known.push(value);
  });
  return map;
}

/** Calls `take` for each line in order, with the name in lower case. */
export function eachHeader(block: string, take: (name: string, value: string) => void): void {
  for (let start = 0; start < block.length; ) {
    const end = block.indexOf('\r\n', start);
    const colon = block.indexOf(':', start);
    take(block.slice(start, colon).toLowerCase(), valueAt(block, colon + 1));
    start = end + 2;
  }
}

/** The block without the lines of these names (lower case). One pass, however many names a hostile head lists. */
export function withoutFields(block: string, names: ReadonlySet<string>): string {
  return filterFields(block, names, false);
}

/** Only the lines of these names (lower case). */
export function onlyFields(block: string, names: ReadonlySet<string>): string {
  return filterFields(block, names, true);
}

function filterFields(block: string, names: ReadonlySet<string>, listed: boolean): string {
  let kept = '';
  for (let at = 0; at < block.length; ) {
    const end = block.indexOf('\r', at) + 2;
    const colon = block.indexOf(':', at);
    if (names.has(block.slice(at, colon).toLowerCase()) === listed) kept += block.slice(at, end);
    at = end;
  }
  return kept;
}

const none: readonly string[] = Object.freeze([]);

/** Offset of the line whose name is `name` (lower case), at or after the line that starts at `from`; -1 when none. */
function findHeader(block: string, name: string, from: number): number {
  const length = name.length;
  // Compares letters case-insensitively; other characters that this makes equal are distinguished by the whole name.
  const first = name.charCodeAt(0) | 32;
  for (let start = from; start < block.length; ) {
    if (
      block.charCodeAt(start + length) === 58 &&
      (block.charCodeAt(start) | 32) === first &&
      block.slice(start, start + length).toLowerCase() === name
    ) {
      return start;
    }
    const end = block.indexOf('\r', start);
    if (end < 0) return -1;
    start = end + 2;
  }
  return -1;
}

function valueAt(block: string, from: number): string {
  const end = block.indexOf('\r', from);
  let start = from;
  let stop = end;
  while (start < stop && isBlank(block.charCodeAt(start))) start++;
  while (stop > start && isBlank(block.charCodeAt(stop - 1))) stop--;
  return block.slice(start, stop);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}
