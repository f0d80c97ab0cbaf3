/** Bytes that fit in an Ethernet frame, after the headers of IPv6 and a tunnel. */
export const defaultPacketSize = 1432;

export interface LineGathererOptions {
  /** Maximum bytes of a packet; a longer line is a packet by itself. */
  readonly packetSize: number;
  /** Groups of lines to wait for. 1: none; then lines of one turn of the event loop still share a packet. */
  readonly groups: number;
  /** Milliseconds to wait for them. */
  readonly delay: number;
  readonly send: (packet: string) => void;
}

/** Joins lines into packets, without a line feed at the end of a packet. */
export class LineGatherer {
  readonly #options: LineGathererOptions;
  #packet = '';
  #bytes = 0;
  #groups = 0;
  #timer: NodeJS.Timeout | null = null;
  #turn: NodeJS.Immediate | null = null;

  constructor(options: LineGathererOptions) {
    this.#options = options;
  }

  add(line: string): void {
    const { packetSize } = this.#options;
    const bytes = Buffer.byteLength(line);
    if (this.#bytes === 0) {
      this.#packet = line;
      this.#bytes = bytes;
    } else if (this.#bytes + 1 + bytes <= packetSize) {
      this.#packet += `\n${line}`;
      this.#bytes += 1 + bytes;
    } else {
      this.#give();
      this.#packet = line;
      this.#bytes = bytes;
    }
  }

  /** Ends a group: the lines since the last call are those of one request. */
  endGroup(): void {
    if (this.#bytes === 0) return;
    this.#groups++;
    const { groups, delay } = this.#options;
    if (groups === 1) this.#turn ??= setImmediate(this.#flush);
    else if (this.#groups >= groups) this.flush();
    else this.#timer ??= setTimeout(this.#flush, delay).unref();
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#turn !== null) clearImmediate(this.#turn);
    this.#timer = null;
    this.#turn = null;
    this.#groups = 0;
    this.#give();
  }

  readonly #flush = (): void => this.flush();

  #give(): void {
    if (this.#bytes === 0) return;
    const packet = this.#packet;
    this.#packet = '';
    this.#bytes = 0;
    this.#options.send(packet);
  }
}
