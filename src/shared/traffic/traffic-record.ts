/** What the recorder notes of one exchange, in the form in which the Admin API shows it. Everything secret in it is masked. */
export interface TrafficEntry {
  /** Id of the request. */
  readonly id: string;
  /** When the request began: ISO 8601 in UTC, with milliseconds. */
  readonly at: string;
  /** Address of the client, after the real-ip rules. */
  readonly client: string;
  readonly method: string;
  readonly scheme: 'http' | 'https';
  readonly host: string;
  /** Normalised, without the query. */
  readonly path: string;
  /** 499: the client disconnected before it was answered. */
  readonly status: number;
  readonly by: 'backend' | 'plugin' | 'gateway' | 'nobody';
  /** Address of the backend, or name of the plugin; null: not known. */
  readonly who: string | null;
  /** Why the answer is an error, in one sentence; null: it is none. */
  readonly reason: string | null;
  readonly route: NamedEntity | null;
  readonly service: NamedEntity | null;
  readonly consumer: {
    readonly id: string;
    readonly username: string | null;
    readonly custom_id: string | null;
  } | null;
  /** Id. */
  readonly credential: string | null;
  /** Attempts at a backend. */
  readonly tries: number;
  /** Address of the last attempt; null: none was made. */
  readonly backend: string | null;
  /** Milliseconds: in all, until a backend was first asked, until its first byte, and until the end. Null: no backend. */
  readonly duration: number;
  readonly gateway: number;
  readonly upstream: number | null;
  readonly receive: number | null;
  /** Bytes of heads and bodies. */
  readonly bytes_in: number;
  readonly bytes_out: number;
  /** The client disconnected before the answer was complete. */
  readonly aborted: boolean;
  /** The record has the timeline of phases, plugins and attempts. */
  readonly traced: boolean;
}

export interface NamedEntity {
  readonly id: string;
  readonly name: string | null;
}

/** A body as the Admin API shows it. Without `text`, `base64`: it is left out, for a reason. */
export interface RecordedBody {
  /** Null: the message names none, or several. */
  readonly media_type: string | null;
  /** Bytes of the whole body as it was sent, in its content coding. */
  readonly bytes: number;
  /** It was longer than what is shown. */
  readonly truncated: boolean;
  /** Credentials in it are masked. */
  readonly text?: string;
  /** What is no text. */
  readonly base64?: string;
  readonly reason?: string;
}

/** The bodies of one exchange; null: there was none, or it was not read. */
export interface RecordedBodies {
  readonly request: RecordedBody | null;
  readonly response: RecordedBody | null;
}

/**
 * A record on its way: JSON of its `TrafficEntry`, of the explanation, of the `RawRequest`, which nobody may see ('': not kept), and of its
 * `RecordedBodies` if they were recorded.
 */
export type PostedRecord = readonly [entry: string, explanation: string, raw: string, bodies?: string];

/** How workers record. */
export interface RecordingOptions {
  /** Maximum records per second and worker. */
  readonly rate: number;
  /** Maximum bytes of each body; 0: no bodies. */
  readonly bodies: number;
}

/** What a worker has recorded since its last message. */
export interface TrafficMessage {
  readonly type: 'traffic';
  readonly records: readonly PostedRecord[];
  /** Requests that ended, recorded or not. */
  readonly seen: number;
  /** Records that were lost because the control plane was behind. */
  readonly dropped: number;
  /** Bodies that were left out because there was no memory or no time for them. */
  readonly droppedBodies: number;
}
