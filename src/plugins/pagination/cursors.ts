import { type Sealer, sealer } from '../../plugin-kit/auth/index.ts';

/** Where the backend continues: at an item number, or after its token. */
export type Position = { readonly offset: number } | { readonly token: string };

export interface CursorSecret {
  readonly secret: string;
  /** Of the plugin instance. */
  readonly purpose: string;
}

/** The end of the year 9999. */
const never = 253_402_300_799;

const sealers = new Map<string, Sealer>();
const maxSealers = 256;

/** Keys are derived once for each instance. */
function sealerOf({ secret, purpose }: CursorSecret): Sealer {
  const name = `${purpose}\n${secret}`;
  let known = sealers.get(name);
  if (known === undefined) {
    if (sealers.size >= maxSealers) sealers.clear();
    known = sealer(secret, purpose);
    sealers.set(name, known);
  }
  return known;
}

/** `binding` identifies the list of the cursor. `expires`: seconds since the epoch, null: never. */
export function sealCursor(key: CursorSecret, binding: string, position: Position, expires: number | null): string {
  const place = 'offset' in position ? position.offset : position.token;
  return sealerOf(key).seal(JSON.stringify([binding, place]), expires ?? never);
}

/** `foreign`: a cursor of another list. Null: not made here, changed, or expired. */
export function openCursor(key: CursorSecret, binding: string, cursor: string): Position | 'foreign' | null {
  const text = sealerOf(key).open(cursor);
  if (text === null) return null;
  const [bound, place] = JSON.parse(text) as readonly [string, number | string];
  if (bound !== binding) return 'foreign';
  return typeof place === 'number' ? { offset: place } : { token: place };
}
