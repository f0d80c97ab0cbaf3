import type { AccessContext, HeaderBlock } from '../../plugin-sdk/index.ts';

/** Values of a header (lower case) of a request. */
export type HeaderValues = (name: string) => readonly string[];

/**
 * The headers by which a backend may choose its answer: as it gets them, which plugins may have changed. To be asked at any
 * time, also when the request is over.
 */
export function choosingHeaders({ request, upstream, client }: AccessContext): HeaderValues {
  return (name) => {
    // The cache changes these itself; the gateway writes those, of which the address of the client is not in the key.
    if (conditionFields.includes(name)) return request.headerValues(name);
    if (addressFields.has(name)) return [...request.headerValues(name), client.ip, client.peerIp];
    return name === 'host' || name.startsWith('x-forwarded-')
      ? request.headerValues(name)
      : upstream.headerValues(name);
  };
}

const addressFields: ReadonlySet<string> = new Set(['forwarded', 'x-forwarded-for', 'x-real-ip']);

const conditionFields = ['if-none-match', 'if-modified-since', 'if-range', 'range'];

/** The lines by which a client asks for a part, or on a condition; '' when plugins have taken them away. */
export function conditionLines({ upstream }: AccessContext): HeaderBlock {
  let lines = '';
  for (const name of conditionFields) {
    for (const value of upstream.headerValues(name)) lines += `${name}: ${value}\r\n`;
  }
  return lines;
}
