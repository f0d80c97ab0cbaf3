/** One message as a parser read it. The results of both parsers are converted to this form for the comparison. */
export interface ReadMessage {
  /** Method and target, or status. */
  readonly start: string;
  readonly version: string;
  /** Names and values as sent, in order; values without surrounding blanks. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** What a parser read from a sequence of bytes that ended with the connection. */
export interface Reading {
  readonly messages: readonly ReadMessage[];
  /** How it stopped: at the end of the bytes, refusing the next ones, or waiting for more. */
  readonly outcome: 'end' | 'refused' | 'incomplete';
  /** The parser's name for the refusal. */
  readonly reason: string;
  /** Offset of the first byte that is not part of a message; -1 if the parser does not report it. */
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
