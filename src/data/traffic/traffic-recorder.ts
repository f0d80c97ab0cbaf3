import type { PluginLogger } from '../../plugin-sdk/tools.ts';
import { TokenBucket } from '../../shared/http2/connection/token-bucket.ts';
import type { PostedRecord, RecordingOptions, TrafficMessage } from '../../shared/traffic/traffic-record.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import type { AddressZone } from '../../shared/zones/address-zone.ts';
import type { Exchange } from '../request/exchange.ts';
import { BodyRecorder } from './bodies/body-recorder.ts';
import { lateRecord, tracedRecord } from './make-record.ts';
import { NearRoutes } from './near-routes.ts';
import { RecordingTrace } from './recording-trace.ts';

export interface TrafficRecorderParts extends RecordingOptions {
  readonly zone: AddressZone;
  readonly log: PluginLogger;
  /** Sends a message to the control plane, which confirms its characters with `taken`. */
  readonly post: (message: TrafficMessage) => void;
}

/** Milliseconds between two messages. */
const postInterval = 100;
/** Characters: a message that reaches this length is sent at once. */
const maxPending = 262_144;
/** Characters that the control plane has not confirmed; above it records are dropped. */
const maxUnconfirmed = 2_097_152;
/** The part of the rate that is selected in one moment. */
const burst = 0.1;
/** Errors among the requests that were not selected at their start: part of the rate. */
const errorShare = 0.25;
const firstError = 400;

/**
 * Records the requests of one worker while somebody looks. A request is selected at its start, as a rate allows, and recorded while it
 * is served; its record is made when the answer has been written, and waits for the next message. Nothing waits for the control plane.
 * Further errors are selected at their end: their records have no timeline.
 */
export class TrafficRecorder {
  readonly #parts: TrafficRecorderParts;
  readonly #selected: TokenBucket;
  readonly #errors: TokenBucket;
  readonly #routes = new NearRoutes();
  /** Null: bodies are not recorded. */
  readonly #bodies: BodyRecorder | null;
  readonly #timer: NodeJS.Timeout;
  #records: PostedRecord[] = [];
  #pending = 0;
  #unconfirmed = 0;
  #seen = 0;
  #dropped = 0;
  #closed = false;

  constructor(parts: TrafficRecorderParts) {
    this.#parts = parts;
    const { rate, bodies } = parts;
    this.#bodies = bodies === 0 ? null : new BodyRecorder(bodies);
    const now = monotonic();
    this.#selected = new TokenBucket(Math.max(1, rate * burst), rate, now);
    this.#errors = new TokenBucket(Math.max(1, rate * burst), rate * errorShare, now);
    this.#timer = setInterval(() => this.#post(), postInterval).unref();
    // The control plane learns that the worker records.
    this.#post(true);
  }

  /** A request begins. */
  begin(x: Exchange): void {
    if (!this.#selected.take(x.startedMono)) return;
    x.trace = new RecordingTrace(x, this.#parts.zone, x.trace !== null);
    this.#bodies?.begin(x);
  }

  /** It has been answered. */
  finished(x: Exchange): void {
    this.#seen++;
    const recorder = x.trace instanceof RecordingTrace ? x.trace : null;
    const isWanted = recorder !== null || (x.status >= firstError && this.#errors.take(monotonic()));
    const isLost = isWanted && this.#unconfirmed >= maxUnconfirmed;
    const bodies = this.#bodies?.finished(x, recorder !== null && !isLost) ?? null;
    if (isLost) this.#dropped++;
    if (!isWanted || isLost) return;
    try {
      const record =
        recorder === null ? lateRecord(x, this.#parts.zone, this.#routes) : tracedRecord(x, recorder, this.#routes);
      if (bodies === null) this.#add(record);
      else void bodies.then((shown) => this.#addLater([record[0], record[1], record[2], shown]));
    } catch (error) {
      this.#dropped++;
      this.#parts.log.error('recording a request failed', { request_id: x.id, error });
    }
  }

  /** The control plane has received records of so many characters. */
  taken(characters: number): void {
    this.#unconfirmed = Math.max(0, this.#unconfirmed - characters);
  }

  /** Sends what is recorded, and ends. */
  close(): void {
    clearInterval(this.#timer);
    this.#closed = true;
    this.#bodies?.close();
    this.#post();
  }

  /** The control plane may have fallen behind since the answer. */
  #addLater(record: PostedRecord): void {
    if (this.#unconfirmed >= maxUnconfirmed) this.#dropped++;
    else this.#add(record);
  }

  #add(record: PostedRecord): void {
    this.#records.push(record);
    this.#pending += lengthOf(record);
    if (this.#pending >= maxPending || this.#closed) this.#post();
  }

  #post(always = false): void {
    if (this.#seen === 0 && this.#records.length === 0 && !always) return;
    const message: TrafficMessage = {
      type: 'traffic',
      records: this.#records,
      seen: this.#seen,
      dropped: this.#dropped,
      droppedBodies: this.#bodies?.takeDropped() ?? 0,
    };
    this.#unconfirmed += this.#pending;
    this.#records = [];
    this.#pending = 0;
    this.#seen = 0;
    this.#dropped = 0;
    this.#parts.post(message);
  }
}

function lengthOf([entry, explanation, raw, bodies = '']: PostedRecord): number {
  return entry.length + explanation.length + raw.length + bodies.length;
}
