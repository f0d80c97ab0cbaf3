/** One server-sent event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** Characters of one event: a server that never ends one must not fill the memory. */
const maxLength = 4_194_304;

/**
 * Reads events from the pieces of a stream. Comments are skipped, and an event that is not complete at the end is dropped
 * (WHATWG HTML, 9.2.6).
 */
export async function* readEvents(pieces: AsyncIterable<string>): AsyncGenerator<ServerEvent> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = eventOf(text.slice(0, end));
      if (event !== null) yield event;
      text = text.slice(end + 2);
    }
    if (text.length > maxLength) throw new Error('an event of the Admin API is too long');
  }
}

/** Null: a block without data is no event. */
function eventOf(block: string): ServerEvent | null {
  const fields = new Map(
    block.split('\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')] as const;
    }),
  );
  const data = fields.get('data');
  return data === undefined ? null : { event: fields.get('event') ?? 'message', data };
}
