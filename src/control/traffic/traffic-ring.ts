import type { PostedRecord, TrafficEntry } from '../../shared/traffic/traffic-record.ts';

/** A record that is kept. */
export interface KeptRecord {
  /** Ascends with each record, also over restarts: its place among all. */
  readonly serial: number;
  readonly entry: TrafficEntry;
  /** JSON of the entry. */
  readonly text: string;
  /** JSON of the explanation, in UTF-8. */
  readonly explanation: Uint8Array;
  /** JSON of the `RawRequest`, in UTF-8, for dry runs only: it contains secrets. Empty: it was not kept. */
  readonly raw: Uint8Array;
  /** JSON of its `RecordedBodies`, in UTF-8; null: they were not recorded. */
  readonly bodies: Uint8Array | null;
}

/** Bytes of an entry's object, about. */
const entryBytes = 1_500;

/** The last records: at most so many, in at most so many bytes. The oldest makes room. */
export class TrafficRing {
  readonly #limit: number;
  readonly #maxBytes: number;
  readonly #records: (KeptRecord | undefined)[];
  readonly #serials = new Map<string, number>();
  /** Microseconds, so that it is greater than every serial of an earlier process. */
  #next = Date.now() * 1000;
  #oldest = this.#next;
  #bytes = 0;
  /** Milliseconds since the epoch. */
  #clearedAt = 0;

  constructor(limit: number, maxBytes: number) {
    this.#limit = limit;
    this.#records = new Array(limit);
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#next - this.#oldest;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the record also when it is not kept: it was on its way from its worker when the others were cleared. */
  add([text, explanation, raw, bodies]: PostedRecord): KeptRecord {
    const record: KeptRecord = {
      serial: this.#next,
      entry: JSON.parse(text) as TrafficEntry,
      text,
      explanation: Buffer.from(explanation),
      raw: Buffer.from(raw),
      bodies: bodies === undefined ? null : Buffer.from(bodies),
    };
    if (Date.parse(record.entry.at) + record.entry.duration <= this.#clearedAt) return record;
    while (this.size > 0 && (this.size >= this.#limit || this.#bytes + bytesOf(record) > this.#maxBytes)) this.#evict();
    this.#records[this.#next % this.#limit] = record;
    this.#serials.set(record.entry.id, this.#next);
    this.#bytes += bytesOf(record);
    this.#next++;
    return record;
  }

  /** Null: it is not kept, or no longer. */
  get(id: string): KeptRecord | null {
    const serial = this.#serials.get(id);
    return serial === undefined ? null : (this.#records[serial % this.#limit] ?? null);
  }

  /** Records in order, beyond `after` if it is given. */
  *walk(order: 'asc' | 'desc', after: number | null): Generator<KeptRecord> {
    const step = order === 'asc' ? 1 : -1;
    const first = order === 'asc' ? this.#oldest : this.#next - 1;
    const start = after === null ? first : after + step;
    const from = order === 'asc' ? Math.max(first, start) : Math.min(first, start);
    for (let serial = from; serial >= this.#oldest && serial < this.#next; serial += step) {
      const record = this.#records[serial % this.#limit];
      if (record !== undefined) yield record;
    }
  }

  /** Forgets all requests that have ended. */
  clear(): void {
    // Times of records are cut to milliseconds.
    this.#clearedAt = Date.now() + 1;
    this.#records.fill(undefined);
    this.#serials.clear();
    this.#oldest = this.#next;
    this.#bytes = 0;
  }

  #evict(): void {
    const place = this.#oldest % this.#limit;
    const record = this.#records[place];
    this.#records[place] = undefined;
    if (record !== undefined) {
      this.#bytes -= bytesOf(record);
      if (this.#serials.get(record.entry.id) === this.#oldest) this.#serials.delete(record.entry.id);
    }
    this.#oldest++;
  }
}

function bytesOf({ text, explanation, raw, bodies }: KeptRecord): number {
  return entryBytes + text.length + explanation.byteLength + raw.byteLength + (bodies?.byteLength ?? 0);
}
