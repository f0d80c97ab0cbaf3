import { randomBytes } from 'node:crypto';
import { type ErrorEntry, errors } from '../errors.ts';
import { headerValues } from '../http1/header-block.ts';
import type { ParsedRequest } from '../http1/parse-request.ts';

/**
 * Turns an extended CONNECT (RFC 8441) into the upgrade that an HTTP/1.1 backend knows. HTTP/2 has no key, so the gateway
 * makes one and checks the backend's answer to it. Returns the error to answer with instead.
 */
export function upgradeToWebSocket(head: ParsedRequest, protocol: string, endStream: boolean): ErrorEntry | null {
  if (protocol.toLowerCase() !== 'websocket') return errors.transferEncoding;
  if (endStream || head.bodyLength > 0) return errors.badRequest;
  if (headerValues(head.block, 'sec-websocket-version').some((version) => version !== '13')) return errors.badRequest;
  head.upgrade = 'websocket';
  head.webSocketKey = randomBytes(16).toString('base64');
  head.bodyLength = 0;
  head.expectContinue = false;
  return null;
}
