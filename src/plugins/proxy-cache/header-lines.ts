import type { HeaderBlock } from '../../plugin-sdk/index.ts';

/* Work on header blocks: latin1 texts of validated lines, `Name: value` and CRLF each. */

/** The values of all lines of this name (lower case), in order. */
export function linesOf(block: HeaderBlock, name: string): string[] {
  const values: string[] = [];
  for (let start = 0; start < block.length; ) {
    const end = endOfLine(block, start);
    if (hasName(block, start, name)) values.push(block.slice(start + name.length + 1, end).trim());
    start = end + 2;
  }
  return values;
}

/** The value of the first line of this name (lower case), or null. */
export function lineOf(block: HeaderBlock, name: string): string | null {
  for (let start = 0; start < block.length; ) {
    const end = endOfLine(block, start);
    if (hasName(block, start, name)) return block.slice(start + name.length + 1, end).trim();
    start = end + 2;
  }
  return null;
}

/** All lines of this name as one list (RFC 9110 5.3), or null when there is none. */
export function listOf(block: HeaderBlock, name: string): string | null {
  const values = linesOf(block, name);
  return values.length === 0 ? null : values.join(', ');
}

/** The lines whose names (lower case) the test lets through. */
export function keepLines(block: HeaderBlock, keep: (name: string) => boolean): HeaderBlock {
  let kept = '';
  for (let start = 0; start < block.length; ) {
    const end = endOfLine(block, start) + 2;
    const colon = block.indexOf(':', start);
    if (keep(block.slice(start, colon).toLowerCase())) kept += block.slice(start, end);
    start = end;
  }
  return kept;
}

/** Lower-case names of all lines. */
export function namesOf(block: HeaderBlock): Set<string> {
  const names = new Set<string>();
  for (let start = 0; start < block.length; start = endOfLine(block, start) + 2) {
    names.add(block.slice(start, block.indexOf(':', start)).toLowerCase());
  }
  return names;
}

function hasName(block: string, start: number, name: string): boolean {
  return (
    block.charCodeAt(start + name.length) === 58 &&
    (block.charCodeAt(start) | 32) === name.charCodeAt(0) &&
    block.slice(start, start + name.length).toLowerCase() === name
  );
}

function endOfLine(block: string, start: number): number {
  const end = block.indexOf('\r\n', start);
  return end < 0 ? block.length : end;
}
