import { type Sealer, sealer } from '../../plugin-sdk/seal.ts';

/** Where the backend goes on: at an item by its number, or after what its token names. */
export type Position = { readonly offset: number } | { readonly token: string };

export interface CursorSecret {
  readonly secret: string;
  /** Of the plugin instance. */
  readonly purpose: string;
}

/** The end of the year 9999. */
const never = 253_402_300_799;

const sealers = new Map<string, Sealer>();
const mostSealers = 256;

/** Keys are derived once for each instance. */
function sealerOf({ secret, purpose }: CursorSecret): Sealer {
  const name = `${purpose}\n${secret}`;
  let known = sealers.get(name);
  if (known === undefined) {
    if (sealers.size >= mostSealers) sealers.clear();
    known = sealer(secret, purpose);
    sealers.set(name, known);
  }
  return known;
}

/** `binding` names the list that the cursor is of. `expires`: seconds since the epoch, null: never. */
export function sealCursor(key: CursorSecret, binding: string, position: Position, expires: number | null): string {
  const place = 'offset' in position ? position.offset : position.token;
  return sealerOf(key).seal(JSON.stringify([binding, place]), expires ?? never);
}

/** `foreign`: it is of another list. Null: it was not made here, was changed, or is too old. */
export function openCursor(key: CursorSecret, binding: string, cursor: string): Position | 'foreign' | null {
  const text = sealerOf(key).open(cursor);
  if (text === null) return null;
  const [bound, place] = JSON.parse(text) as readonly [string, number | string];
  if (bound !== binding) return 'foreign';
  return typeof place === 'number' ? { offset: place } : { token: place };
}
