import { createHash, randomBytes } from 'node:crypto';
import { type ErrorEntry, errors } from '../errors.ts';
import { type ParsedRequest, withoutFields } from '../http1/parse-request.ts';

/** Appended to the key of a handshake before it is hashed (RFC 6455 1.3). */
const handshakeSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

const handshakeFields: ReadonlySet<string> = new Set(['sec-websocket-key', 'sec-websocket-accept']);

/**
 * Makes of an extended CONNECT (RFC 8441) the upgrade that an HTTP/1.1 backend knows. The key, which HTTP/2 does without,
 * is made here, and what the backend has to answer to it is kept in the head. Returns the error to answer with instead.
 */
export function upgradeToWebSocket(head: ParsedRequest, protocol: string, endStream: boolean): ErrorEntry | null {
  if (protocol.toLowerCase() !== 'websocket') return errors.transferEncoding;
  if (endStream || head.bodyLength > 0) return errors.badRequest;
  const key = randomBytes(16).toString('base64');
  head.upgrade = 'websocket';
  head.webSocketAccept = createHash('sha1')
    .update(key + handshakeSuffix)
    .digest('base64');
  head.bodyLength = 0;
  head.expectContinue = false;
  head.forwardBlock = `${withoutFields(head.forwardBlock, handshakeFields)}Sec-WebSocket-Key: ${key}\r\n`;
  return null;
}
