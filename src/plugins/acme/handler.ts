import { createSecureContext, type SecureContext } from 'node:tls';
import { BoundedCache, clientGroup } from '../../plugin-kit/runtime/index.ts';
import {
  type EntityRow,
  type HandshakeView,
  type PluginPhases,
  type PluginTools,
  type Reply,
  type RewriteContext,
  reply,
  replyJson,
} from '../../plugin-sdk/index.ts';
import type { AcmeMessage } from './background.ts';
import { domainMatcher, isCertifiable } from './domains.ts';
import type { AcmeConfig } from './schema.ts';

const wellKnown = '/.well-known/acme-challenge/';

/** Milliseconds before a worker requests a certificate for the same host again. */
const requestPause = 60_000;
/** Requests of a worker per second: unauthenticated clients choose the hosts. */
const maxPerSecond = 10;
/** Of these for one client. */
const maxPerClient = 3;

type Rows = readonly EntityRow[];

/** Responds to challenges of the authority, and requests certificates for hosts that have none. */
export function manageCertificates(config: AcmeConfig, tools: PluginTools): PluginPhases {
  const matches = domainMatcher(config);
  const allows = (host: string): boolean => matches(host) && isCertifiable(host);
  const requestCertificate = certificateRequester(tools);
  return {
    rewrite({ request }: RewriteContext): Reply | undefined | Promise<Reply | undefined> {
      // A single comparison, as every request takes it. The path must not be decoded.
      if (!request.path.startsWith(wellKnown) || (request.method !== 'GET' && request.method !== 'HEAD')) {
        return undefined;
      }
      const token = request.path.slice(wellKnown.length);
      const { host } = request;
      const rows = tools.entities.list('acme_challenges', 'type', 'http-01');
      return rows instanceof Promise
        ? rows.then((known) => challengeReply(token, known, allows(host)))
        : challengeReply(token, rows, allows(host));
    },
    certificate(handshake: HandshakeView) {
      if (!handshake.challenge) {
        if (!handshake.hasCertificate && allows(handshake.serverName))
          requestCertificate(handshake.serverName, handshake.clientIp);
        return null;
      }
      const rows = tools.entities.list('acme_challenges', 'type', 'tls-alpn-01');
      return rows instanceof Promise
        ? rows.then((known) => challengeContext(handshake.serverName, known))
        : challengeContext(handshake.serverName, rows);
    },
  };
}

/** An unknown token is refused for allowed hosts, and left to the backend for others. */
function challengeReply(token: string, rows: Rows, isAllowed: boolean): Reply | undefined {
  const challenge = rows.find((row) => row['token'] === token);
  if (challenge !== undefined) {
    const headers = { 'Content-Type': 'application/octet-stream', 'Cache-Control': 'no-store' };
    return reply({ status: 200, headers, body: String(challenge['answer']) });
  }
  return isAllowed ? replyJson(404, { message: 'Not found' }) : undefined;
}

const contexts = new WeakMap<EntityRow, SecureContext>();

function challengeContext(host: string, rows: Rows): SecureContext | null {
  const challenge = rows.findLast((row) => row['host'] === host);
  if (challenge === undefined) return null;
  let context = contexts.get(challenge);
  if (context === undefined) {
    const pem = String(challenge['answer']);
    context = createSecureContext({ key: pem, cert: pem, minVersion: 'TLSv1.2' });
    contexts.set(challenge, context);
  }
  return context;
}

/** Requests a certificate from the background task, throttled by host, by client and per second. */
function certificateRequester(tools: PluginTools): (host: string, clientIp: string) => void {
  const requestedUntil = new BoundedCache<string, number>(2000);
  let second = 0;
  let count = 0;
  const counts = new Map<string, number>();
  return (host, clientIp) => {
    const now = performance.now();
    if ((requestedUntil.get(host) ?? 0) > now) return;
    const thisSecond = Math.floor(now / 1000);
    if (thisSecond !== second) {
      count = 0;
      counts.clear();
    }
    second = thisSecond;
    const client = clientGroup(clientIp);
    const clientCount = counts.get(client) ?? 0;
    if (count >= maxPerSecond || clientCount >= maxPerClient) return;
    count++;
    counts.set(client, clientCount + 1);
    requestedUntil.set(host, now + requestPause);
    const message: AcmeMessage = { type: 'wanted', host, client };
    tools.background(message).catch((error) => {
      tools.log.warn('cannot request a certificate', {
        host,
        reason: error instanceof Error ? error.message : '',
      });
    });
  };
}
