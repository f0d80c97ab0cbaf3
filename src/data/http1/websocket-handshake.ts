import { createHash } from 'node:crypto';
import { headerValues } from '../../shared/http/header-block.ts';
import type { ParsedResponse } from './parse-response.ts';
import type { ParsedRequest } from './parsed-request.ts';

/** Appended to the key of a handshake before it is hashed (RFC 6455 1.3). */
const keySuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** 16 bytes in base64 (RFC 6455 4.1). */
const wellFormedKey = /^[A-Za-z0-9+/]{22}==$/;

/**
 * The key when the head is a valid opening handshake (RFC 6455 4.2.1), else ''. `upgrade`: the joined values of `Upgrade`.
 * A tunnel of any other protocol would bypass everything that the gateway checks.
 */
export function webSocketKey(head: ParsedRequest, upgrade: string): string {
  if (upgrade.toLowerCase() !== 'websocket' || head.method !== 'GET' || head.bodyLength !== 0) return '';
  const versions = headerValues(head.block, 'sec-websocket-version');
  const keys = headerValues(head.block, 'sec-websocket-key');
  if (versions.length !== 1 || versions[0] !== '13' || keys.length !== 1) return '';
  const key = keys[0] as string;
  return wellFormedKey.test(key) ? key : '';
}

/** True for a 101 that accepts the handshake with this key (RFC 6455 4.1). `key` is '' when no handshake was sent. */
export function acceptsWebSocket(head: ParsedResponse, key: string): boolean {
  if (key === '' || head.minorVersion !== 1 || !head.switchesProtocol) return false;
  if (head.upgrade.toLowerCase() !== 'websocket') return false;
  const accepts = headerValues(head.block, 'sec-websocket-accept');
  return accepts.length === 1 && accepts[0] === webSocketAccept(key);
}

/** `Sec-WebSocket-Accept` for a key. */
export function webSocketAccept(key: string): string {
  return createHash('sha1')
    .update(key + keySuffix)
    .digest('base64');
}

/** Fields of the handshake, also with `_`, which many backends read as `-`. */
const handshakeField = /^(?:connection|upgrade|sec[-_]websocket[-_](?:key|version)):.*\r\n/gim;

/** Makes a request head the opening handshake with this key; changes that plugins made to its fields are discarded. */
export function asHandshake(message: string, key: string): string {
  const start = message.indexOf('\r\n') + 2;
  const lines = message.slice(start, -2).replace(handshakeField, '');
  return (
    `${message.slice(0, start)}Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n${lines}` +
    `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`
  );
}
