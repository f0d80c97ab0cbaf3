/** One event of `text/event-stream` (WHATWG HTML, 9.2) with JSON as its data. `name`: small letters, `-` and `_`. */
export function eventText(name: string, data: unknown, id?: number): string {
  if (!/^[a-z][a-z_-]*$/.test(name)) throw new TypeError(`'${name}' is not a name of an event`);
  // JSON has no line breaks outside of strings, and escapes those within: it is always one line.
  return `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data) ?? 'null'}\n\n`;
}

/** A comment: clients ignore it, and proxies see that the connection is in use. */
export const heartbeatText = ': heartbeat\n\n';
