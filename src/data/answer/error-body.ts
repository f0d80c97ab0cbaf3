/** A body of Kong's error template in the format that the client accepts. */
export interface ErrorBody {
  readonly contentType: string;
  readonly body: string;
}

type Format = 'json' | 'html' | 'plain' | 'xml';

/** A map: a client may name `__proto__`. */
const formats: ReadonlyMap<string, Format> = new Map([
  ['application/json', 'json'],
  ['application/*', 'json'],
  ['*/*', 'json'],
  ['text/html', 'html'],
  ['text/plain', 'plain'],
  ['text/*', 'plain'],
  ['application/xml', 'xml'],
]);

const contentTypes: Readonly<Record<Format, string>> = {
  json: 'application/json; charset=utf-8',
  html: 'text/html; charset=utf-8',
  plain: 'text/plain; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
};

/**
 * `accept`: the client's `Accept`, or null. `fallback`: the media type taken when it is absent (JSON for what the gateway
 * or a plugin refuses; the request's own type or `error_default_type` for what goes wrong on the wire).
 */
export function errorBody(message: string, requestId: string, accept: string | null, fallback: string): ErrorBody {
  const format = (accept === null ? formats.get(mediaType(fallback)) : preferred(accept)) ?? 'json';
  return { contentType: contentTypes[format], body: render(format, message, requestId) };
}

function preferred(accept: string): Format | undefined {
  let best: Format | undefined;
  let bestQuality = 0;
  for (const part of accept.slice(0, 1024).split(',')) {
    const format = formats.get(mediaType(part));
    if (format === undefined) continue;
    const given = /;\s*q=([01](?:\.[0-9]{0,3})?)/.exec(part);
    const quality = given === null ? 1 : Number(given[1]);
    if (quality > bestQuality) {
      best = format;
      bestQuality = quality;
    }
  }
  return best;
}

function mediaType(value: string): string {
  const semicolon = value.indexOf(';');
  return (semicolon < 0 ? value : value.slice(0, semicolon)).trim();
}

function render(format: Format, message: string, id: string): string {
  switch (format) {
    case 'json':
      return `{\n  "message":${JSON.stringify(message)},\n  "request_id":"${id}"\n}`;
    case 'html':
      return (
        '<!doctype html>\n<html>\n  <head>\n    <meta charset="utf-8">\n    <title>Error</title>\n  </head>\n' +
        `  <body>\n    <h1>Error</h1>\n    <p>${escapeMarkup(message)}.</p>\n    <p>request_id: ${id}</p>\n  </body>\n</html>\n`
      );
    case 'plain':
      return `${message}\nrequest_id: ${id}\n`;
    case 'xml':
      return `<?xml version="1.0" encoding="UTF-8"?>\n<error>\n  <message>${escapeMarkup(message)}</message>\n  <requestid>${id}</requestid>\n</error>\n`;
  }
}

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
