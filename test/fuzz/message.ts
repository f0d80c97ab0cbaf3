/** One message as a parser read it; both parsers are brought to this form to be compared. */
export interface ReadMessage {
  /** Method and target, or status. */
  readonly start: string;
  readonly version: string;
  /** Names and values as sent, in order; values without blanks around them. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** What a parser made of a run of bytes that ended with the connection. */
export interface Reading {
  readonly messages: readonly ReadMessage[];
  /** How it stopped: at the end of the bytes, refusing what follows, or waiting for more of it. */
  readonly outcome: 'end' | 'refused' | 'incomplete';
  /** The parser's own word for a refusal. */
  readonly reason: string;
  /** Offset of what was not read as a message; -1 when the parser does not tell. */
  readonly at: number;
}

export function pairs(flat: readonly string[]): (readonly [string, string])[] {
  const list: (readonly [string, string])[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) list.push([flat[at] as string, trimBlanks(flat[at + 1] as string)]);
  return list;
}

export function trimBlanks(value: string): string {
  return value.replace(/^[ \t]+|[ \t]+$/g, '');
}
