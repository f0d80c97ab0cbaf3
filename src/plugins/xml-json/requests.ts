import { mediaType } from '../../plugin-kit/http/index.ts';
import { OffThreadError } from '../../plugin-kit/runtime/index.ts';
import { bodyFault, requestFaultStatus } from '../../plugin-kit/xml/index.ts';
import { type AccessContext, type Reply, refuse } from '../../plugin-sdk/index.ts';
import type { Conversion } from './convert.ts';
import type { Converter } from './converter.ts';
import { formatOf } from './formats.ts';
import type { Wishes } from './negotiation.ts';
import type { XmlJsonOptions } from './options.ts';

/** Digests of the original body (RFC 9530, RFC 3230, RFC 2616 14.15). */
export const bodyDigests: readonly string[] = Object.freeze(['Content-Digest', 'Repr-Digest', 'Digest', 'Content-MD5']);

/** The access phase: sets `Accept` for the backend, and converts the client's body. */
export class Requests {
  readonly #options: XmlJsonOptions;
  readonly #wishes: Wishes;
  readonly #converter: Converter;

  constructor(options: XmlJsonOptions, wishes: Wishes, converter: Converter) {
    this.#options = options;
    this.#wishes = wishes;
    this.#converter = converter;
  }

  access(context: AccessContext): undefined | Reply | Promise<undefined | Reply> {
    const { requests, responses } = this.#options;
    const refusal = responses ? this.#negotiate(context) : undefined;
    if (refusal !== undefined || !requests || !mayHaveBody(context)) return refusal;
    return this.#body(context);
  }

  /** The client's format is converted from the backend's. */
  #negotiate(context: AccessContext): Reply | undefined {
    const { backend, backendAccept, refuses, types } = this.#options;
    const wanted = this.#wishes.of(context);
    if (wanted === null) {
      if (!refuses) return undefined;
      return refuse(406, `Not acceptable: available are ${[...types.json, ...types.xml].join(', ')}`, {
        Vary: 'Accept',
      });
    }
    if (wanted.format === backend) return undefined;
    context.upstream.setHeader('Accept', backendAccept);
    // A part of a document cannot be converted.
    context.upstream.removeHeader('Range');
    context.upstream.removeHeader('If-Range');
    return undefined;
  }

  #body(context: AccessContext): undefined | Reply | Promise<undefined | Reply> {
    const { backend, client, other, refuses, types } = this.#options;
    const contentTypes = context.upstream.headerValues('content-type');
    const contentType = contentTypes[0] ?? null;
    const media = contentTypes.length === 1 ? mediaType(contentType) : null;
    const format = contentTypes.length === 0 ? client : formatOf(media);
    if (format === backend) return undefined;
    if (format === null) return refuses ? this.#unfit(context) : undefined;
    if (other === 'json' && !isUtf8(media?.charset ?? null))
      return refuse(415, 'Unsupported media type: JSON is UTF-8', { Accept: types.json.join(', ') });
    return this.#convert(context, contentType);
  }

  #unfit(context: AccessContext): undefined | Reply | Promise<undefined | Reply> {
    const refusal = this.#unsupported();
    if (tellsBody(context)) return refusal;
    return context.body().then((body) => (body.byteLength === 0 ? undefined : refusal));
  }

  #unsupported(): Reply {
    const { json, xml } = this.#options.types;
    const accepted = [...json, ...xml].join(', ');
    return refuse(415, `Unsupported media type: use one of ${accepted}`, { Accept: accepted });
  }

  async #convert(context: AccessContext, contentType: string | null): Promise<undefined | Reply> {
    const bytes = await context.decodedBody();
    if (bytes.byteLength === 0) return undefined;
    const { backend, backendType, soapAction } = this.#options;
    try {
      const conversion = await this.#converted(bytes, contentType, context.client.ip);
      if (conversion.fault !== null) return refuse(400, 'Bad request: a fault is no request');
      context.upstream.setBody(conversion.body);
    } catch (error) {
      return requestRefusal(error);
    }
    context.upstream.setHeader('Content-Type', backendType);
    if (backend === 'xml' && soapAction !== null) context.upstream.setHeader('SOAPAction', soapAction);
    for (const name of bodyDigests) context.upstream.removeHeader(name);
    return undefined;
  }

  #converted(bytes: Uint8Array, contentType: string | null, client: string): Conversion | Promise<Conversion> {
    return this.#options.backend === 'xml'
      ? this.#converter.toXml(bytes, null, client)
      : this.#converter.toJson({ bytes, contentType, request: true }, client);
  }
}

function requestRefusal(error: unknown): Reply {
  if (error instanceof OffThreadError) return refuse(503, 'Service temporarily unavailable', { 'Retry-After': '1' });
  const fault = bodyFault(error);
  if (fault === null) throw error;
  const kind = {
    syntax: 'Bad request',
    mapping: 'Bad request',
    limit: 'Payload too large',
    encoding: 'Unsupported media type',
  };
  return refuse(requestFaultStatus(fault), `${kind[fault]}: ${(error as Error).message}`);
}

/** JSON has no other encoding (RFC 8259 8.1); US-ASCII is a subset. */
function isUtf8(charset: string | null): boolean {
  return charset === null || charset === 'utf-8' || charset === 'utf8' || charset === 'us-ascii';
}

/** Whether the head announces a body. */
function tellsBody({ request }: AccessContext): boolean {
  const length = request.header('content-length');
  return length === null ? request.header('transfer-encoding') !== null : length !== '0';
}

/** HTTP/2 need not announce it. */
function mayHaveBody(context: AccessContext): boolean {
  const { request } = context;
  if (tellsBody(context)) return true;
  if (request.httpVersion !== '2' || request.header('content-length') !== null) return false;
  return request.method !== 'GET' && request.method !== 'HEAD';
}
