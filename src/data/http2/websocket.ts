import { randomBytes } from 'node:crypto';
import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { headerValues } from '../../shared/http/header-block.ts';
import type { ParsedRequest } from '../http1/parsed-request.ts';

/**
 * Turns an extended CONNECT (RFC 8441) into the upgrade that an HTTP/1.1 backend understands. HTTP/2 has no key, so the
 * gateway generates one and checks the backend's response to it. Returns the error to answer with instead.
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
