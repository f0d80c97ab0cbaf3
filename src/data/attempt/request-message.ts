import type { UpstreamTimeouts } from '../../plugin-sdk/attempts.ts';
import { composeUpstreamPath, escapePath } from '../../shared/http/path.ts';
import { asBuffer } from '../../shared/util/bytes/as-buffer.ts';
import { flatText } from '../../shared/util/bytes/flat-text.ts';
import { hostHeader, hostName } from '../../shared/util/net/host-header.ts';
import { serverToken } from '../../version.ts';
import type { HeaderEdits } from '../answer/header-edits.ts';
import type { RuntimeTarget } from '../balancer/runtime-target.ts';
import type { ParsedRequest } from '../http1/parsed-request.ts';
import { asHandshake } from '../http1/websocket-handshake.ts';
import type { DownstreamPeer, Exchange, UpstreamLink } from '../request/exchange.ts';
import type { ProxyOptions } from '../request/options.ts';
import type { RuntimeService } from '../snapshot/runtime.ts';
import { sendDeadline } from './attempt-timeouts.ts';

/** The timeouts that apply to the request. */
export function timeoutsOf(x: Exchange): UpstreamTimeouts {
  return x.policy?.timeouts ?? (x.service as RuntimeService).timeouts;
}

/** Sends the request on the link. `now`: monotonic clock. */
export function sendRequest(
  x: Exchange,
  service: RuntimeService,
  target: RuntimeTarget,
  link: UpstreamLink,
  now: number,
  options: ProxyOptions,
): void {
  x.upstream = link;
  const timeouts = timeoutsOf(x);
  if (x.policy !== null) sendDeadline(x, timeouts, now);
  const collected = x.requestBody;
  const length = collected === null ? x.head.bodyLength : collected.byteLength;
  link.send(x, requestMessage(x, service, target, length, options), length, timeouts, now);
  if (collected !== null) {
    if (length > 0) link.bodyData(asBuffer(collected), 0, length);
    link.bodyEnd('');
  } else x.body?.sendTo(link, x);
}

/** The request as the backend receives it. `bodyLength`: bytes, -1 for chunked, 0 for none. */
function requestMessage(
  x: Exchange,
  service: RuntimeService,
  target: RuntimeTarget,
  bodyLength: number,
  options: ProxyOptions,
): string {
  const message = plainMessage(x, service, target, bodyLength, options);
  return x.head.upgrade === '' ? message : handshake(x, message, bodyLength);
}

/** A plugin may have changed the method or added a body: then it is sent as a plain request. */
function handshake(x: Exchange, message: string, bodyLength: number): string {
  const upgrades = bodyLength === 0 && (x.upstreamMethod ?? x.head.method) === 'GET';
  x.handshakeKey = upgrades ? x.head.webSocketKey : '';
  return upgrades ? asHandshake(message, x.handshakeKey) : message;
}

/** Request line, `Host`, forwarding headers, then the client's own lines. */
function plainMessage(
  x: Exchange,
  service: RuntimeService,
  target: RuntimeTarget,
  bodyLength: number,
  options: ProxyOptions,
): string {
  const { head, peer } = x;
  const stripped = x.route?.stripPath === true ? x.matchedPath : '';
  x.upstreamUri = upstreamTarget(x, service);

  let text = `${x.upstreamMethod ?? head.method} ${x.upstreamUri}${hostLines(x, service, target)}`;
  if (peer.trusted) text += trustedForwarding(x, stripped) + viaLine(head);
  else if (head.forwardedFor !== '' || head.via !== '' || head.httpVersion !== '1.1') {
    text += forwarding(x, stripped) + viaLine(head);
  } else text += `${usualForwarding(peer, head.host)}${head.rawPath}\r\n${prefixLine(stripped)}`;
  if (options.requestIdUpstream) text += `X-Kong-Request-Id: ${x.id}\r\n`;
  if (head.trailers) text += 'TE: trailers\r\n';
  if (bodyLength > 0) text += `Content-Length: ${bodyLength}\r\n`;
  else if (bodyLength < 0) text += 'Transfer-Encoding: chunked\r\n';
  else if (needsLength(x.upstreamMethod ?? head.method)) text += 'Content-Length: 0\r\n';
  const edits = x.requestEdits;
  if (edits === null) return `${text}${x.identity}${head.forwardBlock}\r\n`;
  if (edits.onlyAdds) return `${text}${x.identity}${head.forwardBlock}${edits.addedLines}\r\n`;
  return `${editedHead(text, x.identity + head.forwardBlock, edits)}\r\n`;
}

/** Path and query as the backend receives them. */
export function upstreamTarget(x: Exchange, service: RuntimeService): string {
  const { head, route } = x;
  const path =
    x.upstreamPath === null
      ? x.pathInService === null
        ? composeUpstreamPath(service.path, route?.stripPath === true, x.matchedPath, x.path)
        : composeUpstreamPath(service.path, false, '', x.pathInService)
      : escapePath(x.upstreamPath);
  const query =
    x.upstreamQuery === null
      ? head.hasQuery
        ? `?${head.query}`
        : ''
      : x.upstreamQuery === ''
        ? ''
        : `?${x.upstreamQuery}`;
  return path + query;
}

function viaLine({ via, httpVersion }: Pick<ParsedRequest, 'via' | 'httpVersion'>): string {
  return `Via: ${via === '' ? '' : `${via}, `}${httpVersion} ${serverToken}\r\n`;
}

/** Edits may name any header, including those that the gateway sets, so they are applied to the whole block. */
function editedHead(text: string, block: string, edits: HeaderEdits): string {
  const start = text.indexOf('\r\n') + 2;
  return text.slice(0, start) + edits.applyTo(text.slice(start) + block);
}

/** A request whose method implies a body declares that it has none (RFC 9110 8.6). */
function needsLength(method: string): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}

/** The end of the request line, `Host` and `Connection`. */
function hostLines(x: Exchange, service: RuntimeService, target: RuntimeTarget): string {
  if (x.route?.preserveHost === true && x.head.host !== '') return linesOf(x.head.host);
  const { protocol } = service;
  const name = x.balanced === null ? service.hostHeader : (x.balanced.hostHeader ?? target.host);
  const last = knownHosts.get(target);
  if (last !== undefined && last.name === name && last.protocol === protocol) return last.lines;
  const host = x.balanced === null ? name : hostHeader(protocol, name, target.port);
  const lines = flatText(linesOf(host));
  knownHosts.set(target, { name, protocol, lines });
  return lines;
}

function linesOf(host: string): string {
  return ` HTTP/1.1\r\nHost: ${host}\r\nConnection: keep-alive\r\n`;
}

interface KnownHost {
  readonly name: string;
  readonly protocol: RuntimeService['protocol'];
  readonly lines: string;
}

/** The lines that a target got last. The services of an upstream share its targets, and have the same protocol as a rule. */
const knownHosts = new WeakMap<RuntimeTarget, KnownHost>();

/** Forwarding headers for a peer that is not trusted: its own are appended to or replaced, never trusted. */
function forwarding(x: Exchange, stripped: string): string {
  const { head, peer } = x;
  const chain = head.forwardedFor === '' ? peer.peerIp : `${head.forwardedFor}, ${peer.peerIp}`;
  return `X-Forwarded-For: ${chain}\r\n${peerTail(peer)}X-Forwarded-Host: ${hostName(head.host)}\r\nX-Forwarded-Path: ${head.rawPath}\r\n${prefixLine(stripped)}`;
}

/**
 * The same for a client that has sent none, with `Via`, up to the value of `X-Forwarded-Path`. Kept for the first host of a connection:
 * it rarely has another one.
 */
function usualForwarding(peer: DownstreamPeer, host: string): string {
  if (peer.lines !== '' && peer.linesHost === host) return peer.lines;
  const lines = `X-Forwarded-For: ${peer.peerIp}\r\n${peerTail(peer)}X-Forwarded-Host: ${hostName(host)}\r\nVia: 1.1 ${serverToken}\r\nX-Forwarded-Path: `;
  if (peer.lines !== '') return lines;
  // Not the slice of a head, which would keep all of it.
  peer.linesHost = flatText(host);
  peer.lines = flatText(lines);
  return peer.lines;
}

function trustedForwarding(x: Exchange, stripped: string): string {
  const { head, peer } = x;
  const forwardedFor = head.forwardedFor === '' ? peer.peerIp : `${head.forwardedFor}, ${peer.peerIp}`;
  const prefix = head.forwardedPrefix === '' ? prefixLine(stripped) : `X-Forwarded-Prefix: ${head.forwardedPrefix}\r\n`;
  return (
    `X-Real-IP: ${x.clientIp}\r\nX-Forwarded-For: ${forwardedFor}\r\n` +
    `X-Forwarded-Proto: ${head.forwardedProto === '' ? peer.scheme : head.forwardedProto}\r\n` +
    `X-Forwarded-Port: ${head.forwardedPort === '' ? peer.localPort : head.forwardedPort}\r\n` +
    `X-Forwarded-Host: ${head.forwardedHost === '' ? hostName(head.host) : head.forwardedHost}\r\n` +
    `X-Forwarded-Path: ${head.forwardedPath === '' ? head.rawPath : head.forwardedPath}\r\n${prefix}` +
    (head.forwarded === '' ? '' : `Forwarded: ${head.forwarded}\r\n`)
  );
}

function prefixLine(stripped: string): string {
  return stripped === '' || stripped === '/' ? '' : `X-Forwarded-Prefix: ${escapePath(stripped)}\r\n`;
}

function peerTail(peer: DownstreamPeer): string {
  return `X-Real-IP: ${peer.peerIp}\r\nX-Forwarded-Proto: ${peer.scheme}\r\nX-Forwarded-Port: ${peer.localPort}\r\n`;
}
