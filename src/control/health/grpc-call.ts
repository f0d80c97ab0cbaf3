import type { Socket } from 'node:net';
import { headerValue } from '../../shared/http/header-block.ts';
import { Http2Connection } from '../../shared/http2/connection/connection.ts';
import { headBlock } from '../../shared/http2/connection/connection-sender.ts';
import { Http2Stream, streamWindow } from '../../shared/http2/connection/stream.ts';
import { ResetCode } from '../../shared/http2/frames/codes.ts';
import type { HeaderList } from '../../shared/http2/hpack/header-list.ts';
import { ownSocket } from '../../shared/util/net/socket-owner.ts';
import type { ProbeRun } from './probe.ts';
import type { GrpcAnswer } from './probe-grpc.ts';

/** One call of a gRPC method with one message. */
export interface GrpcCall {
  readonly scheme: 'http' | 'https';
  /** As an HTTP/1.1 head, through its empty line. */
  readonly head: string;
  /** Length-prefixed. */
  readonly body: Buffer;
  readonly answered: (answer: GrpcAnswer) => void;
}

/** Bytes of an answer's body. */
const maxBody = 1024;
const maxHeaderList = 16_384;
const maxHeaderCount = 128;
/** 1xx responses before the answer. */
const maxInformational = 20;

/** Sends the call over a connection of its own. The deadline of `run` bounds all of it. */
export function sendCall(run: ProbeRun, socket: Socket, call: GrpcCall): void {
  if (run.settled) return;
  const connection = new CallConnection(run, socket);
  run.cleanup(() => connection.connectionError(ResetCode.noError));
  ownSocket(socket, connection);
  connection.send(call);
}

/** A violation of HTTP/2 counts as an unreadable answer. */
function broken(run: ProbeRun, cause: string): void {
  run.end({ kind: 'http-failure', cause });
}

class CallConnection extends Http2Connection {
  readonly #run: ProbeRun;
  /** The target has broken the protocol. */
  #violated = false;

  constructor(run: ProbeRun, socket: Socket) {
    super(socket, {
      server: false,
      settings: [],
      window: streamWindow,
      maxHeaderListSize: maxHeaderList,
      maxHeaderCount,
      // The probe has its own deadline.
      headTimeout: 0,
      sendTimeout: 0,
    });
    this.#run = run;
  }

  send({ scheme, head, body, answered }: GrpcCall): void {
    this.begin();
    const stream = new CallStream(this, this.#run, answered);
    this.open(stream);
    headBlock.length = 0;
    this.encoder.request(headBlock, head, scheme);
    this.sendHeaders(stream, false);
    this.sendData(stream, body, 0, body.byteLength);
    this.sendEnd(stream, '');
  }

  override connectionError(code: number): void {
    this.#violated = true;
    super.connectionError(code);
  }

  /** The stream of the call was reset, also by the end of the connection. */
  callReset(code: number): void {
    broken(this.#run, `${this.#violated ? 'the target breaks HTTP/2' : 'the call was reset'} (error code ${code})`);
  }

  protected goingAway(lastStream: number, code: number): void {
    if (lastStream < this.lastStream || code !== ResetCode.noError) {
      broken(this.#run, `the target has refused the call with GOAWAY (error code ${code})`);
    }
  }

  protected accept(): null {
    return null;
  }

  protected opened(): void {}

  protected settled(): void {}

  protected streamBroken(): void {}

  /** The probe watches the socket itself. */
  protected lost(): void {}

  protected unexpected(error: unknown): void {
    broken(this.#run, String(error));
  }
}

class CallStream extends Http2Stream {
  declare readonly connection: CallConnection;
  readonly #run: ProbeRun;
  readonly #answered: GrpcCall['answered'];
  #httpStatus = 0;
  #grpcStatus: string | null = null;
  #body: Buffer = Buffer.alloc(0);
  #informational = 0;

  constructor(connection: CallConnection, run: ProbeRun, answered: GrpcCall['answered']) {
    super(connection, false);
    this.#run = run;
    this.#answered = answered;
  }

  protected onHead({ fields, valid, exceeded }: HeaderList): void {
    const [first, ...rest] = fields;
    const isHead = first?.name === ':status' && /^[1-9]\d\d$/.test(first.value) && rest.every(({ pseudo }) => !pseudo);
    if (!valid || exceeded || !isHead) {
      broken(this.#run, 'the head of the answer is not valid');
      return;
    }
    const status = Number(first.value);
    if (status < 200) {
      if (++this.#informational > maxInformational) broken(this.#run, 'too many informational answers');
      return;
    }
    this.#httpStatus = status;
    this.#grpcStatus = rest.find(({ name }) => name === 'grpc-status')?.value ?? null;
    this.headComplete();
    this.startReading();
  }

  protected onData(bytes: Uint8Array, start: number, end: number): void {
    this.#body = Buffer.concat([this.#body, bytes.subarray(start, end)]);
    if (this.#body.length > maxBody) broken(this.#run, 'the answer is too long');
  }

  protected onEnd(trailers: string): void {
    const grpcStatus = headerValue(trailers, 'grpc-status') ?? this.#grpcStatus;
    this.#answered({ httpStatus: this.#httpStatus, grpcStatus, body: this.#body });
  }

  onReset(code: number): void {
    this.connection.callReset(code);
  }

  onDrained(): void {}

  onSent(): void {}

  unexpected(error: unknown): void {
    broken(this.#run, String(error));
  }
}
