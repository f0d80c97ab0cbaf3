import type { Exchange } from '../request/exchange.ts';
import type { ExplainMode } from './explain-mode.ts';
import type { ExplainRecorder, HeldAttempt } from './explain-recorder.ts';

/** What is known of a response. */
export interface SeenAnswer {
  readonly status: number;
  /** Header lines as the client would have received them. */
  readonly block: string;
  bytes: number;
  /** The beginning of a body of the gateway's own. */
  beginning: string;
  /** The body's beginning, if the explanation is to contain it. */
  readonly kept?: { readonly pieces: Uint8Array[]; bytes: number };
  trailers: string;
  /** Milliseconds from the start of the request to the head; null: not recorded. */
  readonly head: number | null;
}

/** How the request ended: `complete`: with a whole response; `held`: before a backend was contacted. */
export type Ending = 'complete' | 'broken' | 'endless' | 'held';

/** The inputs of an explanation. */
export interface Explained {
  readonly x: Exchange;
  readonly recorder: ExplainRecorder;
  readonly mode: ExplainMode;
  readonly ending: Ending;
  /** Null: no response had begun. */
  readonly answer: SeenAnswer | null;
  readonly held: HeldAttempt | null;
}

/** The origin of the response. */
export type AnsweredBy = 'backend' | 'plugin' | 'gateway' | 'nobody';

/** The beginning of a body: `text` if it is valid UTF-8, otherwise `base64`. */
export interface ShownBody {
  readonly text?: string;
  readonly base64?: string;
  /** The body has more bytes. */
  readonly truncated: boolean;
}

export interface AnswerPart {
  readonly by: AnsweredBy;
  /** Address of the backend, or name of the plugin. */
  readonly who: string | null;
  readonly status: number | null;
  /** The gateway's own error; `cause`: why the last attempt at a backend failed. */
  readonly error: { readonly code: string; readonly message: string; readonly cause: string | null } | null;
  /** The message of a response of the gateway or a plugin; null: none, or it is a backend's. */
  readonly message: string | null;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly trailers: Readonly<Record<string, unknown>>;
  /** Size of the body that the client would have received. */
  readonly body_bytes: number;
  /** The body, if the explanation was to contain it. */
  readonly body?: ShownBody;
  readonly complete: boolean;
  /** Milliseconds to the head of the response. */
  readonly head_ms: number | null;
}
