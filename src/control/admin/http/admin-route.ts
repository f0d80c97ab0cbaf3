import type { Readable } from 'node:stream';
import type { AdminRole } from '../../../shared/entities/admin-users.ts';
import type { Caller } from '../access/caller.ts';
import type { AuditTrail } from '../audit/audit-trail.ts';
import type { Query } from './query.ts';
import type { RequestBody } from './request-body.ts';

/** Methods that a route may have a handler for. HEAD comes with GET, OPTIONS with every path. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface AdminRequest {
  /** Path without the query, as the client sent it, without a trailing slash and without the workspace alias. */
  readonly path: string;
  /** Values of the `{name}` segments, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: RequestBody;
  /** The body as it was sent, of an operation with `rawBody`; `body` is then empty. */
  readonly raw: RawBody | null;
  /** The client, and the audit records of the request. */
  readonly trail: AuditTrail;
  /** Who sends the request, and what it may do. */
  readonly caller: Caller;
  /** The `Accept` header; null when there is none. */
  readonly accept: string | null;
  /**
   * For an answer that takes long: rejects with an `HttpError` when the caller could no longer send this request or has other rights than at
   * its begin, and with another error while that is unknown because the store is unavailable.
   */
  readonly requireStillAllowed: () => Promise<void>;
}

export interface RawBody {
  /** The `Content-Type` header. */
  readonly type: string | undefined;
  readonly bytes: Uint8Array;
}

export interface Answer {
  readonly status: number;
  /** Sent as JSON; a body that is left out means an empty answer. */
  readonly json?: unknown;
  /** Sent as plain text instead of JSON. */
  readonly text?: string;
  /** Streamed with this media type. Destroyed when it is not read: for HEAD, or when the client has disconnected. */
  readonly stream?: { readonly type: string; readonly body: Readable };
  readonly headers?: Readonly<Record<string, string>>;
}

export type Handler = (request: AdminRequest) => Promise<Answer> | Answer;

/** The OpenAPI description of one method of a route. */
export interface OperationNotes {
  readonly summary: string;
  /** `list` adds the parameters of all paging styles and the list envelope around `entity`. */
  readonly answer: 'entity' | 'list' | 'object' | 'text' | 'events' | 'none';
  /** Schema name of the entity answered with, and read from the body of POST, PUT and PATCH. */
  readonly entity?: string;
  /** Schema name of the body, when it is another one. */
  readonly bodyEntity?: string;
  /** Further media types of the answer, by `Accept`. */
  readonly otherTypes?: readonly string[];
  /** Success status; default: 200. */
  readonly status?: number;
  readonly takesBody?: boolean;
  /** `schema`: JSON Schema of its value; any text when left out. */
  readonly queryParameters?: readonly {
    readonly name: string;
    readonly description: string;
    /** Default: false. */
    readonly required?: boolean;
    readonly schema?: Readonly<Record<string, unknown>>;
  }[];
  /** Statuses beyond the success and the failures that follow from the kind of operation. */
  readonly otherStatuses?: readonly number[];
  /** Always refused, as in Kong; omitted from the OpenAPI description. */
  readonly hidden?: boolean;
}

/**
 * Who may use an operation. `read`: every signed-in caller. `edit`: also the role `edit`, whose changes of rows `commit` checks. `admin`:
 * only admins.
 */
export type Access = AdminRole;

export interface Operation {
  /** Default: `admin`, so that an operation without a decision is closed. */
  readonly access?: Access;
  readonly handle: Handler;
  /** Changes nothing, whatever the method, so it has no audit record. Default: true for GET only. */
  readonly readOnly?: boolean;
  /** The handler decodes the body itself. Default: false. */
  readonly rawBody?: boolean;
  /**
   * The answer is a stream of events. Without a token only pages that may write get it: any page could open streams, although it may not read
   * them, until there is none left for others. Default: false.
   */
  readonly events?: boolean;
  readonly notes: OperationNotes;
}

/** One path of the Admin API, in Kong's notation: `/services/{services}/routes`. */
export interface AdminRoute {
  readonly path: string;
  readonly operations: Readonly<Partial<Record<Method, Operation>>>;
  /** Group in the OpenAPI description. */
  readonly tag: string;
  /** Names of `{name}` segments whose values no log may show, unless they are ids. Default: none. */
  readonly secretParams?: readonly string[];
  /** Largest body in bytes. Default: `nginx_admin_client_max_body_size`. */
  readonly maxBodySize?: number;
  /**
   * Called for a request with a body before the body is read; `length` is null when the client did not say it. Returns what to call
   * when the request has ended. Throws the error that refuses it.
   */
  readonly admit?: (length: number | null) => () => void;
}

/** The path's methods in alphabetical order with HEAD and OPTIONS, for `Allow`. */
export function allowedMethods(route: AdminRoute): string {
  const methods: string[] = Object.keys(route.operations);
  if (route.operations.GET !== undefined) methods.push('HEAD');
  methods.push('OPTIONS');
  return methods.sort().join(', ');
}

export function ok(json: unknown): Answer {
  return { status: 200, json };
}

export const noContent: Answer = { status: 204 };
