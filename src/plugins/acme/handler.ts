import { createSecureContext, type SecureContext } from 'node:tls';
import {
  BoundedCache,
  clientGroup,
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

/** A host that was asked for is not asked for again so soon, in milliseconds. */
const pause = 60_000;
/** Hosts that a worker asks for in one second at most: strangers choose them. */
const mostEachSecond = 10;
/** Of these for one client. */
const mostOfClient = 3;

type Rows = readonly EntityRow[];

/** Answers the authority's questions, and has certificates made for hosts that have none. */
export function keepCertificates(config: AcmeConfig, tools: PluginTools): PluginPhases {
  const matches = domainMatcher(config);
  const allows = (host: string): boolean => matches(host) && isCertifiable(host);
  const ask = asker(tools);
  return {
    rewrite({ request }: RewriteContext): Reply | undefined | Promise<Reply | undefined> {
      // One comparison for every request; a path that is decoded could only look like another one.
      if (!request.path.startsWith(wellKnown) || (request.method !== 'GET' && request.method !== 'HEAD')) {
        return undefined;
      }
      const token = request.path.slice(wellKnown.length);
      const { host } = request;
      const rows = tools.entities.list('acme_challenges', 'type', 'http-01');
      return rows instanceof Promise
        ? rows.then((known) => answerTo(token, known, allows(host)))
        : answerTo(token, rows, allows(host));
    },
    certificate(handshake: HandshakeView) {
      if (!handshake.challenge) {
        if (!handshake.hasCertificate && allows(handshake.serverName)) ask(handshake.serverName, handshake.clientIp);
        return null;
      }
      const rows = tools.entities.list('acme_challenges', 'type', 'tls-alpn-01');
      return rows instanceof Promise
        ? rows.then((known) => challengeContext(handshake.serverName, known))
        : challengeContext(handshake.serverName, rows);
    },
  };
}

/** A token that nobody knows is refused for hosts of ours, and the backend's business for others. */
function answerTo(token: string, rows: Rows, ours: boolean): Reply | undefined {
  const challenge = rows.find((row) => row['token'] === token);
  if (challenge !== undefined) {
    const headers = { 'Content-Type': 'application/octet-stream', 'Cache-Control': 'no-store' };
    return reply({ status: 200, headers, body: String(challenge['answer']) });
  }
  return ours ? replyJson(404, { message: 'Not found' }) : undefined;
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

/** Tells the background part of a host without a certificate: once in a while, however often it is asked for. */
function asker(tools: PluginTools): (host: string, clientIp: string) => void {
  const asked = new BoundedCache<string, number>(2000);
  let second = 0;
  let count = 0;
  const counts = new Map<string, number>();
  return (host, clientIp) => {
    const now = performance.now();
    if ((asked.get(host) ?? 0) > now) return;
    const thisSecond = Math.floor(now / 1000);
    if (thisSecond !== second) {
      count = 0;
      counts.clear();
    }
    second = thisSecond;
    const client = clientGroup(clientIp);
    const ofClient = counts.get(client) ?? 0;
    if (count >= mostEachSecond || ofClient >= mostOfClient) return;
    count++;
    counts.set(client, ofClient + 1);
    asked.set(host, now + pause);
    const message: AcmeMessage = { type: 'wanted', host, client };
    tools.background(message).catch((error) => {
      tools.log.warn('a certificate cannot be asked for', {
        host,
        reason: error instanceof Error ? error.message : '',
      });
    });
  };
}
