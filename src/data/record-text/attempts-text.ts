import { jsonBody } from '../../shared/logs/record-line.ts';
import { BoundedCache } from '../../shared/util/bounded-cache.ts';
import { flatText } from '../../shared/util/bytes/flat-text.ts';
import { type Latencies, tries } from '../answer/log-record.ts';
import type { Exchange } from '../request/exchange.ts';

/** `tries`. */
export function triesText(x: Exchange): string {
  if (x.failedAttempts === null) return onlyTryText(x);
  let text = '';
  for (const { balancer_start, balancer_start_ns, ip, port, state, code } of tries(x)) {
    if (text !== '') text += ',';
    text += `{"balancer_start":${balancer_start},"balancer_start_ns":${balancer_start_ns}`;
    text += `,"ip":"${jsonBody(ip)}","port":${port}${state === undefined ? '' : `,"state":"${state}","code":${code}`}}`;
  }
  return `,"tries":[${text}]`;
}

/** The same without failed attempts. */
function onlyTryText(x: Exchange): string {
  if (x.target === null || x.tries === 0) return ',"tries":[]';
  const started = Math.floor(x.attemptStartedAt);
  // Nanoseconds end with these zeros, and are beyond the numbers that are fast to write.
  const nanoseconds = started > 0 && started < 1e14 ? `${started}000000` : `${started * 1e6}`;
  return `,"tries":[{"balancer_start":${started},"balancer_start_ns":${nanoseconds}${addressText(x)}`;
}

interface KnownAddress {
  readonly port: number;
  readonly text: string;
}

const addresses = new BoundedCache<string, KnownAddress>(256);

/** Address of the only attempt, and the ends of its object and of the list. */
function addressText({ targetIp, targetPort: port }: Exchange): string {
  const known = addresses.get(targetIp);
  if (known !== undefined && known.port === port) return known.text;
  const text = flatText(`,"ip":"${jsonBody(targetIp)}","port":${port}}]`);
  addresses.set(targetIp, { port, text });
  return text;
}

/** Most requests take few milliseconds: their texts repeat. */
const known = new BoundedCache<number, string>(1024);
const maxKnown = 256;

/** The end of the part before, and `latencies`. */
export function latenciesText(times: Latencies): string {
  const { request, kong, proxy, receive } = times;
  if (!isShort(request) || !isShort(kong) || !isShort(proxy) || !isShort(receive)) return writtenLatencies(times);
  const key = ((request * maxKnown + kong) * maxKnown + proxy) * maxKnown + receive;
  let text = known.get(key);
  if (text === undefined) {
    text = flatText(writtenLatencies(times));
    known.set(key, text);
  }
  return text;
}

function isShort(milliseconds: number): boolean {
  return milliseconds >= 0 && milliseconds < maxKnown;
}

function writtenLatencies({ request, kong, proxy, receive }: Latencies): string {
  return `},"latencies":{"request":${request},"kong":${kong},"proxy":${proxy},"receive":${receive}}`;
}
