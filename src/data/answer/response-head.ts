import { headerValue } from '../../shared/http/header-block.ts';
import { reasonPhrases } from '../../shared/http/reason-phrases.ts';
import { flatText, NumberedLines } from '../../shared/util/bytes/flat-text.ts';
import { utf8AsLatin1 } from '../../shared/util/bytes/latin1.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { serverToken } from '../../version.ts';
import type { ParsedResponse } from '../http1/parse-response.ts';
import type { Exchange } from '../request/exchange.ts';
import type { ProxyOptions } from '../request/options.ts';
import { serverTimingLine } from './server-timing.ts';

/** The head of an answer: status line, header block with edits, what the gateway adds, framing. */
export function responseHead(x: Exchange, framing: string, options: ProxyOptions): string {
  return `${statusText(x.status, x.reason)}${responseLines(x, options)}${framing}\r\n`;
}

/** The header lines of an answer, without its status and its framing. */
export function responseLines(x: Exchange, options: ProxyOptions): string {
  x.sentLines = gatewayLines(x, options);
  const lines = sentBlock(x);
  x.sentSize = lines.length;
  return lines;
}

/** The header lines of an answer as they were sent, without its framing. */
export function sentBlock(x: Exchange): string {
  return (x.responseEdits === null ? x.responseBlock : x.responseEdits.applyTo(x.responseBlock)) + x.sentLines;
}

function gatewayLines(x: Exchange, options: ProxyOptions): string {
  let lines = '';
  if (x.upstreamStartedMono > 0) {
    if (options.upstreamStatus && x.upstreamStatus > 0) lines += upstreamStatuses.line(x.upstreamStatus);
    if (options.upstreamLatency) {
      const waited = (x.firstByteMono > 0 ? x.firstByteMono : monotonic()) - x.upstreamStartedMono;
      lines += upstreamLatencies.line(Math.round(waited));
    }
    if (options.proxyLatency) lines += proxyLatencies.line(Math.round(x.upstreamStartedMono - x.startedMono));
  } else if (options.responseLatency)
    lines += `X-Kong-Response-Latency: ${Math.round(monotonic() - x.startedMono)}\r\n`;
  if (options.serverTiming) lines += serverTimingLine(x);
  if (options.debugHeader) lines += debugLines(x);
  if (options.requestIdDownstream) lines += `X-Kong-Request-Id: ${x.id}\r\n`;
  return lines;
}

const upstreamStatuses = new NumberedLines('X-Kong-Upstream-Status', 600);
const upstreamLatencies = new NumberedLines('X-Kong-Upstream-Latency', 1000);
const proxyLatencies = new NumberedLines('X-Kong-Proxy-Latency', 1000);

/** The lines that answer `Kong-Debug: 1`, where `allow_debug_header` is on. */
function debugLines(x: Exchange): string {
  if (headerValue(x.head.block, 'kong-debug') !== '1') return '';
  let lines = '';
  const names = {
    'Kong-Route-Id': x.route?.id,
    'Kong-Route-Name': x.route?.name,
    'Kong-Service-Id': x.service?.id,
    'Kong-Service-Name': x.service?.name,
  };
  for (const [name, value] of Object.entries(names)) if (value) lines += `${name}: ${utf8AsLatin1(value)}\r\n`;
  return lines;
}

/** `Via` and `Server` of an answer from the backend; both can be changed by plugins. */
export function upstreamLines({ via, server, httpVersion }: ParsedResponse, options: ProxyOptions): string {
  const serverLine = server !== '' ? serverLineOf(server) : options.serverHeader ? ownServer : '';
  if (!options.viaHeader) return via === '' ? serverLine : `${serverLine}Via: ${via}\r\n`;
  if (via === '' && httpVersion === '1.1') return serverLine + viaLine;
  return `${serverLine}Via: ${via === '' ? '' : `${via}, `}${httpVersion} ${serverToken}\r\n`;
}

/** Backends of one kind name the same server with every answer. */
let lastServer = '';
let lastServerLine = '';

function serverLineOf(server: string): string {
  if (server !== lastServer) {
    lastServerLine = flatText(`Server: ${server}\r\n`);
    lastServer = server;
  }
  return lastServerLine;
}

const ownServer = flatText(`Server: ${serverToken}\r\n`);
/** `Via` of an answer that has none yet. */
export const viaLine = flatText(`Via: 1.1 ${serverToken}\r\n`);

/** `Date` and `Server` of an answer that the gateway makes. */
export function gatewayBlock(options: ProxyOptions): string {
  return options.serverHeader ? `Date: ${httpDate()}\r\n${ownServer}` : `Date: ${httpDate()}\r\n`;
}

let dateText = '';
let dateSecond = 0;

/** Now, as in a `Date` header; formatted once a second. */
export function httpDate(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * 1000).toUTCString();
  }
  return dateText;
}

const statusLines = new Map<number, string>(
  Object.entries(reasonPhrases).map(([status, reason]) => [
    Number(status),
    flatText(`HTTP/1.1 ${status} ${reason}\r\n`),
  ]),
);

export function statusText(status: number, reason: string): string {
  const usual = statusLines.get(status);
  if (usual !== undefined && (reason === '' || reason === reasonPhrases[status])) return usual;
  return `HTTP/1.1 ${status} ${reason}\r\n`;
}
