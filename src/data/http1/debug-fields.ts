import { trimBlanks } from './field-names.ts';

/** Values of the fields that request an explanation; repeated lines in order. */
export interface DebugFields {
  /** `X-Sluicegate-Explain`. */
  readonly explain: readonly string[];
  /** `X-Kong-Request-Debug`. */
  readonly requestDebug: readonly string[];
  /** `X-Kong-Request-Debug-Log`. */
  readonly log: readonly string[];
  /** `X-Sluicegate-Debug-Token` and `X-Kong-Request-Debug-Token`. */
  readonly tokens: readonly string[];
}

type Place = keyof DebugFields;

const places: ReadonlyMap<string, Place> = new Map([
  ['x-sluicegate-explain', 'explain'],
  ['x-kong-request-debug', 'requestDebug'],
  ['x-kong-request-debug-log', 'log'],
  ['x-sluicegate-debug-token', 'tokens'],
  ['x-kong-request-debug-token', 'tokens'],
]);

/** Names of those fields, in lower case. */
export const debugFieldNames: readonly string[] = [...places.keys()];

/** Removes them from a block. Names written with `_` are removed too, and ignored. */
export function takeDebugFields(block: string): { readonly block: string; readonly fields: DebugFields } {
  const fields: Record<Place, string[]> = { explain: [], requestDebug: [], log: [], tokens: [] };
  let kept = '';
  for (let at = 0; at < block.length; ) {
    const end = block.indexOf('\r', at) + 2;
    const colon = block.indexOf(':', at);
    const name = block.slice(at, colon).toLowerCase();
    const place = places.get(name);
    if (place !== undefined) fields[place].push(trimBlanks(block.slice(colon + 1, end - 2)));
    else if (!name.includes('_') || !places.has(name.replaceAll('_', '-'))) kept += block.slice(at, end);
    at = end;
  }
  return { block: kept, fields };
}
