import type { FastifyReply, FastifyRequest } from 'fastify';
import { canonicalIp } from '../../../shared/util/net/ip-address.ts';
import type { AccessEntry } from '../admin-log.ts';
import { maskedUrl } from './masked-url.ts';

/** The routes as they appear in the access log. */
export interface RouteConfig {
  readonly secretParams?: readonly string[];
}

/** A finished request, for its line of the access log. */
export function accessEntryOf(request: FastifyRequest, reply: FastifyReply): AccessEntry {
  const { socket } = request;
  const duration = reply.elapsedTime;
  return {
    remoteAddr: addressOf(request),
    remotePort: socket.remotePort ?? 0,
    localAddr: socket.localAddress ?? '',
    localPort: socket.localPort ?? 0,
    scheme: schemeOf(request),
    time: Date.now() - Math.round(duration),
    duration,
    method: request.method,
    url: loggedUrl(request, request.originalUrl),
    httpVersion: request.raw.httpVersion,
    status: reply.statusCode,
    bodyBytesSent: request.method === 'HEAD' ? 0 : Number(reply.getHeader('content-length') ?? 0),
    requestId: request.id,
    header: (name) => firstOf(request.headers[name]),
    sentHeader: (name) => firstOf(reply.getHeader(name)),
  };
}

function firstOf(value: string | number | readonly string[] | undefined): string | null {
  if (value === undefined) return null;
  return typeof value === 'object' ? (value[0] ?? null) : String(value);
}

/** The URL without the secrets that name entities. */
export function loggedUrl(request: FastifyRequest, url: string): string {
  const { secretParams } = request.routeOptions.config as RouteConfig;
  if (secretParams === undefined) return url;
  const params = request.params as Readonly<Record<string, string>>;
  return maskedUrl(
    url,
    secretParams.map((name) => params[name] ?? ''),
  );
}

export function schemeOf({ socket }: FastifyRequest): 'http' | 'https' {
  return 'encrypted' in socket ? 'https' : 'http';
}

export function addressOf(request: FastifyRequest): string {
  return canonicalIp(request.ip) ?? request.ip;
}
