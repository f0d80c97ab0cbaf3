import { mediaType } from '../../plugin-kit/http/index.ts';
import { throttledLog } from '../../plugin-kit/logging/index.ts';
import { OffThreadError } from '../../plugin-kit/runtime/index.ts';
import { bodyFault } from '../../plugin-kit/xml/index.ts';
import {
  type HeaderFilterContext,
  type PluginTools,
  type Reply,
  type ResponseContext,
  type ResponseHeadEdit,
  refuse,
} from '../../plugin-sdk/index.ts';
import type { Conversion } from './convert.ts';
import type { Converter } from './converter.ts';
import { formatOf } from './formats.ts';
import type { Wanted, Wishes } from './negotiation.ts';
import type { XmlJsonOptions } from './options.ts';
import { bodyDigests } from './requests.ts';
import { type FaultCode, faultHttpStatus } from './soap.ts';

/** Message for a backend's response that cannot be converted. */
const invalid = 'An invalid response was received from the upstream server';

/** The response phases. The gateway's own responses are never changed. */
export class Answers {
  readonly #options: XmlJsonOptions;
  readonly #wishes: Wishes;
  readonly #converter: Converter;
  readonly #log: PluginTools['log'];
  readonly #report: (reason: string) => void;

  constructor(options: XmlJsonOptions, wishes: Wishes, converter: Converter, log: PluginTools['log']) {
    this.#options = options;
    this.#wishes = wishes;
    this.#converter = converter;
    this.#log = log;
    this.#report = throttledLog(10_000, (reason, suppressed) =>
      log.warn(`the answer of a backend cannot be converted: ${reason}`, { suppressed }),
    );
  }

  shouldBufferResponse(context: HeaderFilterContext): boolean {
    const { response } = context;
    const wanted = this.#wishes.of(context);
    if (response.source !== 'upstream' || wanted === null || wanted.format === this.#options.backend) return false;
    const type = response.header('content-type');
    // A 304 describes the response that the client has cached, but may lack its type (RFC 9110 15.4.5).
    return (type === null && response.status === 304) || formatOf(mediaType(type)) === this.#options.backend;
  }

  response(context: ResponseContext): undefined | Reply | Promise<undefined | Reply> {
    const wanted = this.#wishes.of(context) as Wanted;
    const { response, request } = context;
    if (request.method === 'HEAD' || response.status === 304 || response.status === 204) {
      this.#correctHead(response, wanted);
      return undefined;
    }
    if (response.status === 206) return this.#bad('a part of a document cannot be converted');
    if (response.header('content-encoding') !== null) return this.#bad('its content coding is unknown');
    const bytes = response.body();
    if (bytes.byteLength === 0) return undefined;
    return this.#convert(context, bytes, wanted);
  }

  /** Responses vary by `Accept`, also those that are not converted. */
  headerFilter({ response }: HeaderFilterContext): void {
    if (response.source !== 'upstream') return;
    if (response.status !== 304 && formatOf(mediaType(response.header('content-type'))) === null) return;
    const fields = response.headerValues('vary').join(',').toLowerCase();
    if (fields.split(',').some((field) => /^\s*(?:accept|\*)\s*$/.test(field))) return;
    response.addHeader('Vary', 'Accept');
  }

  #convert(
    context: ResponseContext,
    bytes: Uint8Array,
    wanted: Wanted,
  ): undefined | Reply | Promise<undefined | Reply> {
    try {
      const conversion = this.#converted(context, bytes);
      if (!(conversion instanceof Promise)) return this.#replace(context, conversion, wanted);
      return conversion.then(
        (done) => this.#replace(context, done, wanted),
        (error: unknown) => this.#refusal(error),
      );
    } catch (error) {
      return this.#refusal(error);
    }
  }

  #converted({ response, client }: ResponseContext, bytes: Uint8Array): Conversion | Promise<Conversion> {
    if (this.#options.backend === 'json') return this.#converter.toXml(bytes, this.#failure(response), client.ip);
    const contentType = response.header('content-type');
    return this.#converter.toJson({ bytes, contentType, request: false }, client.ip);
  }

  /** The status of a response that becomes a SOAP fault. */
  #failure({ status }: ResponseHeadEdit): number | null {
    return this.#options.soapVersion !== null && status >= 400 ? status : null;
  }

  #replace(context: ResponseContext, { body, fault }: Conversion, wanted: Wanted): undefined {
    const { response } = context;
    const { soapVersion } = this.#options;
    const failure = this.#failure(response);
    if (fault !== null) response.setStatus(this.#statusOf(fault));
    else if (this.#options.backend === 'json' && failure !== null && soapVersion !== null)
      response.setStatus(faultHttpStatus(soapVersion, failure));
    this.#correctHead(response, wanted);
    response.setBody(body);
    return undefined;
  }

  #statusOf({ main, sub }: FaultCode): number {
    const { faultStatuses } = this.#options;
    if (sub !== null && Object.hasOwn(faultStatuses, sub)) return faultStatuses[sub] as number;
    if (Object.hasOwn(faultStatuses, main)) return faultStatuses[main] as number;
    return main === 'Sender' ? 400 : main === 'Receiver' ? 500 : 502;
  }

  #correctHead(response: ResponseHeadEdit, { format, type }: Wanted): void {
    if (response.status !== 304 || response.header('content-type') !== null)
      response.setHeader('Content-Type', format === 'json' ? type : `${type}; charset=utf-8`);
    // Equivalent content in other bytes: not a strong validator (RFC 9110 8.8.1).
    const etag = response.header('etag');
    if (etag?.startsWith('"')) response.setHeader('ETag', `W/${etag}`);
    for (const name of bodyDigests) if (response.header(name) !== null) response.removeHeader(name);
    if (response.header('accept-ranges') !== null) response.removeHeader('Accept-Ranges');
  }

  #refusal(error: unknown): Reply {
    if (error instanceof OffThreadError) {
      this.#log.warn('an answer was not converted', { cause: error.message });
      return refuse(503, 'Service temporarily unavailable', { 'Retry-After': '1' });
    }
    if (bodyFault(error) === null) throw error;
    return this.#bad((error as Error).message);
  }

  #bad(reason: string): Reply {
    this.#report(reason);
    return refuse(502, `${invalid}: ${reason}`);
  }
}
