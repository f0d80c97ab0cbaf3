import { maskedTarget } from '../../shared/logs/masked-arguments.ts';
import { jsonBody, jsonOfLatin1 } from '../../shared/logs/record-line.ts';
import { flatText } from '../../shared/util/bytes/flat-text.ts';
import { hostName } from '../../shared/util/net/host-header.ts';
import { requestBytes, shownQuery } from '../answer/log-record.ts';
import type { Exchange, RecordedHead } from '../request/exchange.ts';
import { headersText } from './headers-text.ts';
import { queryText } from './query-text.ts';

/** The part `request`, from the value of `uri` to the end of its last member. */
export function requestText(x: Exchange, { origin, text }: RecordedHead): string {
  const { secretArguments, logMasks } = x.plan;
  const target = maskedTarget(x.head.target, secretArguments, logMasks);
  const uri = jsonOfLatin1(target);
  const query = queryText(shownQuery(x, target), secretArguments);
  return `${uri}${origin}${uri}","querystring":${query}${text}${requestBytes(x)}${tlsText(x)}`;
}

/** Heads with more characters are not kept for their connection: there may be many. */
const maxKeptLength = 2048;

/** Clients repeat the same head on a connection: comparing the heads finds its text. */
export function recordedHead({ peer, plan, head, clientIp }: Exchange): RecordedHead {
  const { block, host, method } = head;
  const known = peer.recorded;
  if (
    known !== null &&
    known.plan === plan &&
    known.method === method &&
    known.clientIp === clientIp &&
    known.host === host &&
    known.block === block
  ) {
    return known;
  }
  const made: RecordedHead = {
    block,
    plan,
    host,
    method,
    clientIp,
    origin: flatText(`","url":"${peer.scheme}://${jsonBody(hostName(host))}:${peer.localPort}`),
    text: flatText(`,"method":"${method}","headers":${headersText(plan, block)},"size":`),
    client: flatText(`,"client_ip":"${jsonBody(clientIp)}","started_at":`),
  };
  if (block.length <= maxKeptLength) peer.recorded = made;
  return made;
}

function tlsText({ peer }: Exchange): string {
  if (peer.tls === null) return '';
  const { version, cipher } = peer.tls;
  return `,"tls":{"version":${JSON.stringify(version)},"cipher":${JSON.stringify(cipher)},"client_verify":"NONE"}`;
}
