import type { AccessContext } from '../../plugin-sdk/contexts.ts';
import { type Reply, refuse } from '../../plugin-sdk/reply.ts';
import { mediaType } from '../http/media-type.ts';
import { BodySyntaxError } from './body-syntax-error.ts';
import { type JsonOptions, type JsonValue, parseJson } from './json.ts';

/** A value, or the reply for a request without one. */
export type JsonBody =
  | { readonly value: JsonValue; readonly reply: null }
  | { readonly value: null; readonly reply: Reply };

/**
 * Reads the JSON body of a request, up to the bytes of `needs.requestBody`. Otherwise the result has the reply to send: 415 for another
 * type, 400 for malformed JSON, with its line and column. A body that is too large or cannot be decoded is answered by the
 * gateway, as for `decodedBody`.
 *
 * @example
 * const { value, reply } = await readJsonBody(context);
 * if (reply !== null) return reply;
 */
export async function readJsonBody(context: AccessContext, options: JsonOptions = {}): Promise<JsonBody> {
  const types = context.request.headerValues('content-type');
  if (types.length !== 1 || mediaType(types[0] ?? null)?.isJson !== true) {
    return { value: null, reply: refuse(415, 'The body must be JSON') };
  }
  try {
    return { value: parseJson(await context.decodedBody(), options), reply: null };
  } catch (error) {
    if (!(error instanceof BodySyntaxError)) throw error;
    return { value: null, reply: refuse(400, error.message) };
  }
}
