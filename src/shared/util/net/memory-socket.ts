import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** One end of a connection in memory. */
export interface MemoryEnd {
  /** IP address. */
  readonly address: string;
  readonly port: number;
  /** Runs what the events of this end cause: the other end may belong to code with another time or context. Default: calls it. */
  readonly enter?: ((work: () => void) => void) | undefined;
}

type Done = (error?: Error | null) => void;

/** Something on its way to the other end. */
interface Parcel {
  /** `end`: this end sends no more. `reset`: it is gone. */
  readonly content: Buffer | 'end' | 'reset';
  readonly done: Done;
}

const nothing = (): void => {};
/** Bytes that a connection holds, as the kernel's buffers do: a write beyond them is done when the reader has made room. */
const capacity = 65_536;

/**
 * A socket whose other end is in the same thread. Bytes arrive in a later turn of the event loop, never during `write`; a reader that
 * pauses stops the writer, as on the network; a reset and an orderly end differ. It has no handle, so it keeps no process alive.
 */
export class MemorySocket extends Duplex {
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** True until `established`. */
  connecting = false;
  readonly #enter: (work: () => void) => void;
  #peer: MemorySocket | null = null;
  #parcels: Parcel[] = [];
  #pumping = false;
  /** Bytes in `#parcels`. */
  #held = 0;
  /** The reader has to catch up first. */
  #full = false;
  #resets = false;
  /** The other end has sent its end. */
  #ended = false;

  constructor(own: MemoryEnd, other: MemoryEnd) {
    super({ allowHalfOpen: true });
    this.localAddress = own.address;
    this.localPort = own.port;
    this.remoteAddress = other.address;
    this.remotePort = other.port;
    this.#enter = own.enter ?? ((work) => work());
  }

  /** @internal */
  join(peer: MemorySocket): void {
    this.#peer = peer;
  }

  /** Emits `connect`: the connection can be used now. */
  established(): void {
    this.connecting = false;
    if (!this.destroyed) this.#enter(() => this.emit('connect'));
  }

  /** Closes with a reset, which the other end sees as ECONNRESET. */
  resetAndDestroy(): this {
    this.#resets = true;
    return this.destroy();
  }

  destroySoon(): void {
    if (this.writableFinished) this.destroy();
    else {
      this.once('finish', () => this.destroy());
      this.end();
    }
  }

  override _write(chunk: Buffer, _encoding: string, done: Done): void {
    // The writer may use its buffer again as soon as it is called back.
    const content = Buffer.copyBytesFrom(chunk);
    const fits = this.#held + content.byteLength <= capacity;
    this.#held += content.byteLength;
    this.#send({ content, done: fits ? nothing : done });
    if (fits) done();
  }

  override _final(done: Done): void {
    this.#send({ content: 'end', done });
  }

  override _read(): void {
    this.#full = false;
    const peer = this.#peer;
    if (peer !== null) peer.#pumpLater();
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#send({ content: this.#resets ? 'reset' : 'end', done: nothing });
    done(error);
  }

  #send(parcel: Parcel): void {
    this.#parcels.push(parcel);
    this.#pumpLater();
  }

  #pumpLater(): void {
    if (this.#pumping || this.#parcels.length === 0) return;
    this.#pumping = true;
    setImmediate(() => {
      this.#pumping = false;
      this.#enter(() => this.#pump());
    });
  }

  #pump(): void {
    const peer = this.#peer;
    while (this.#parcels.length > 0) {
      if (peer === null || peer.destroyed) {
        this.#broken();
        return;
      }
      if (peer.#full) return;
      const { content, done } = this.#parcels[0] as Parcel;
      // After what was sent before it has been read.
      if (content === 'reset' && peer.readableLength > 0 && !peer.isPaused()) {
        this.#pumpLater();
        return;
      }
      this.#parcels.shift();
      if (typeof content !== 'string') this.#held -= content.byteLength;
      peer.#enter(() => peer.#receive(content));
      done();
    }
  }

  #receive(content: Parcel['content']): void {
    if (this.destroyed) return;
    if (content === 'reset') {
      this.destroy(socketError('ECONNRESET', 'read'));
      return;
    }
    if (this.#ended) return;
    this.#ended = content === 'end';
    const open = this.push(content === 'end' ? null : content);
    this.#full = !open && !this.#ended;
  }

  /** What was sent to an end that is gone comes back as a reset. */
  #broken(): void {
    const parcels = this.#parcels.splice(0);
    const lost = parcels.some(({ content }) => typeof content !== 'string');
    this.#held = 0;
    for (const { done } of parcels) done();
    if (lost) this.destroy(socketError('ECONNRESET', 'write'));
  }

  // What users of a `net.Socket` call, and what has no meaning in memory.

  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  setTimeout(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}

/** Both ends of a connection. */
export function memoryConnection(
  client: MemoryEnd,
  server: MemoryEnd,
): { readonly client: MemorySocket; readonly server: MemorySocket } {
  const ends = { client: new MemorySocket(client, server), server: new MemorySocket(server, client) };
  ends.client.join(ends.server);
  ends.server.join(ends.client);
  return ends;
}

/** For code that takes the sockets of the network. */
export function asSocket(socket: MemorySocket): Socket {
  return socket as unknown as Socket;
}

/** An error as the system reports it: `connect ECONNREFUSED 10.0.0.1:80`. */
export function socketError(code: string, call: 'connect' | 'read' | 'write', where = ''): NodeJS.ErrnoException {
  const error: NodeJS.ErrnoException = new Error(`${call} ${code}${where === '' ? '' : ` ${where}`}`);
  error.code = code;
  error.syscall = call;
  return error;
}
