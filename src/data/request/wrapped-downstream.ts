import type { RequestBodySink } from '../http1/body-sink.ts';
import type { Downstream, Exchange } from './exchange.ts';

/** Stands before the client of an exchange, and passes everything on. */
export class WrappedDownstream implements Downstream {
  protected readonly client: Downstream;

  constructor(client: Downstream) {
    this.client = client;
  }

  get bodyComplete(): boolean {
    return this.client.bodyComplete;
  }

  sendHead(x: Exchange, bodyLength: number): void {
    this.client.sendHead(x, bodyLength);
  }

  sendBody(x: Exchange, bytes: Uint8Array, start: number, end: number): boolean {
    return this.client.sendBody(x, bytes, start, end);
  }

  sendEnd(x: Exchange, trailers: string): void {
    this.client.sendEnd(x, trailers);
  }

  flush(x: Exchange): void {
    this.client.flush(x);
  }

  sendInformational(x: Exchange, status: number, block: string): void {
    this.client.sendInformational(x, status, block);
  }

  abort(x: Exchange): void {
    this.client.abort(x);
  }

  startBody(x: Exchange, sink: RequestBodySink): void {
    this.client.startBody(x, sink);
  }

  limitBody(x: Exchange, bytes: number): void {
    this.client.limitBody(x, bytes);
  }

  pauseBody(x: Exchange): void {
    this.client.pauseBody(x);
  }

  resumeBody(x: Exchange): void {
    this.client.resumeBody(x);
  }

  startTunnel(x: Exchange, sink: RequestBodySink): void {
    this.client.startTunnel(x, sink);
  }
}
