import { readToken, signedOut } from '../session/session.ts';

/** Where the Admin API is: `/api`, below the path of the dashboard. */
export const apiRoot = new URL('api', document.baseURI).pathname;

/** The path of the dashboard itself, for the router. */
export const basePath = new URL(document.baseURI).pathname;

/** An answer other than success. */
export class ApiError extends Error {
  readonly status: number;
  /** Messages by field, as deep as the fields; or by parameter of the query. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Place of the problem in a document that was sent, a JSON pointer; null: not in one. */
  readonly place: string | null;
  /** How to fix the request; null: unknown. */
  readonly hint: string | null;
  /** Of an answer to several changes: which of them is refused, from 0; null: none of them in particular. */
  readonly change: number | null;

  constructor(status: number, body: unknown) {
    const {
      message,
      options,
      fields = options,
      hint,
      place,
      change,
    } = Object(body) as Readonly<Record<string, unknown>>;
    super(typeof message === 'string' ? message : `The Admin API answered with status ${status}`);
    this.name = 'ApiError';
    this.status = status;
    this.fields = typeof fields === 'object' && fields !== null ? (fields as Readonly<Record<string, unknown>>) : {};
    this.place = typeof place === 'string' ? place : null;
    this.hint = typeof hint === 'string' ? hint : null;
    this.change = typeof change === 'number' ? change : null;
  }
}

/** The gateway did not answer: it is stopped, or the network is interrupted. */
export class OfflineError extends Error {
  constructor(cause: unknown) {
    super('The gateway does not answer', { cause });
    this.name = 'OfflineError';
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface CallOptions {
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** Default: that of the session. */
  readonly token?: string | null;
  /** Receives the version of the config that a write has made; null: none. */
  readonly onVersion?: (version: number | null) => void;
}

/** Calls the Admin API. `path`: with its query. Rejects with an `ApiError` or an `OfflineError`. */
export async function call<T>(method: Method, path: string, options: CallOptions = {}): Promise<T> {
  const { body, signal, token = readToken() } = options;
  const headers: Record<string, string> = { accept: 'application/json' };
  if (token !== null) headers['authorization'] = `Bearer ${token}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const response = await fetch(`${apiRoot}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw new OfflineError(error);
  });
  const text = await response.text();
  const value = text === '' ? null : parsed(text);
  if (response.ok) {
    const version = response.headers.get('x-sluicegate-config-version');
    options.onVersion?.(version === null ? null : Number(version));
    return value as T;
  }
  if (response.status === 401 && options.token === undefined) signedOut();
  throw new ApiError(response.status, value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { message: text.slice(0, 500) };
  }
}
