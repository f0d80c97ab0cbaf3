import type { Readable } from 'node:stream';
import type { AuditTrail } from '../audit/audit-trail.ts';
import type { Query } from './query.ts';
import type { RequestBody } from './request-body.ts';

/** Methods that a route may have a handler for. HEAD comes with GET, OPTIONS with every path. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface AdminRequest {
  /** Path without the query, as the caller wrote it, without a trailing slash and without the workspace alias. */
  readonly path: string;
  /** Values of the `{name}` segments, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: RequestBody;
  /** Who asks, and the records that are made of it. */
  readonly trail: AuditTrail;
  /** The `Accept` header; null when there is none. */
  readonly accept: string | null;
}

export interface Answer {
  readonly status: number;
  /** Sent as JSON; a body that is left out means an empty answer. */
  readonly json?: unknown;
  /** Sent as plain text instead of JSON. */
  readonly text?: string;
  /** Sent while it is made, with this media type. Destroyed when nobody reads it: by HEAD, or because the client is gone. */
  readonly stream?: { readonly type: string; readonly body: Readable };
  readonly headers?: Readonly<Record<string, string>>;
}

export type Handler = (request: AdminRequest) => Promise<Answer> | Answer;

/** What the OpenAPI description says of one method of a route. */
export interface OperationNotes {
  readonly summary: string;
  /** `list` adds the parameters of all paging styles and the list envelope around `entity`. */
  readonly answer: 'entity' | 'list' | 'object' | 'text' | 'none';
  /** Schema name of the entity answered with, and read from the body of POST, PUT and PATCH. */
  readonly entity?: string;
  /** Media types of the answer besides the usual one, by `Accept`. */
  readonly otherTypes?: readonly string[];
  /** Success status; 200 unless told otherwise. */
  readonly status?: number;
  readonly takesBody?: boolean;
  /** `schema`: JSON Schema of its value; any text when left out. */
  readonly queryParameters?: readonly {
    readonly name: string;
    readonly description: string;
    readonly schema?: Readonly<Record<string, unknown>>;
  }[];
  /** Statuses beyond the success and the failures that follow from the kind of operation. */
  readonly otherStatuses?: readonly number[];
  /** Answers as Kong does, which always refuses it; left out of the OpenAPI description. */
  readonly hidden?: boolean;
}

export interface Operation {
  readonly handle: Handler;
  /** Changes nothing, whatever the method: leaves no record. Default: only GET does not. */
  readonly readOnly?: boolean;
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
