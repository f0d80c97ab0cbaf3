import { headerMap, headerValues } from '../../shared/http/header-block.ts';
import type { RouteQuery } from '../router/router.ts';
import type { Exchange } from './exchange.ts';

/** The exchange as the router reads it. One object for all requests of a worker. */
export class ExchangeQuery implements RouteQuery {
  exchange: Exchange | null = null;
  get method(): string {
    return (this.exchange as Exchange).head.method;
  }
  get host(): string {
    return (this.exchange as Exchange).head.host;
  }
  get port(): number {
    return (this.exchange as Exchange).peer.localPort;
  }
  get path(): string {
    return (this.exchange as Exchange).path;
  }
  get scheme(): 'http' | 'https' {
    return (this.exchange as Exchange).peer.scheme;
  }
  get sni(): string {
    return (this.exchange as Exchange).peer.sni;
  }
  headerValues(name: string): readonly string[] {
    const block = (this.exchange as Exchange).head.block;
    return block.includes('_') ? foldedValues(block, name) : headerValues(block, name);
  }
  headerNames(): readonly string[] {
    return Object.keys(headerMap((this.exchange as Exchange).head.block)).map((name) => name.replaceAll('_', '-'));
  }
}

/** Values of lines whose name equals `name` when `_` reads as `-`. */
function foldedValues(block: string, name: string): readonly string[] {
  const values: string[] = [];
  for (const line of block.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0 && line.slice(0, colon).toLowerCase().replaceAll('_', '-') === name) {
      values.push(line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, ''));
    }
  }
  return values;
}
