import { Buffer } from 'node:buffer';
import { jsonText, parseJson } from '../../plugin-kit/json/index.ts';
import { BoundedCache } from '../../plugin-kit/runtime/index.ts';
import {
  type CompiledXmlMapping,
  compileXmlMapping,
  elementsToJson,
  jsonToXml,
  parseXml,
  type XmlDocument,
  type XmlElement,
  type XmlMapping,
  type XmlNode,
  xmlText,
  xmlToJson,
} from '../../plugin-kit/xml/index.ts';
import { envelope, type FaultCode, faultEnvelope, headerElements, openEnvelope, type SoapVersion } from './soap.ts';

/** How an instance converts. Plain data: it goes to another thread with each large body. */
export interface ConvertOptions {
  readonly mapping: XmlMapping;
  readonly soap: {
    readonly version: SoapVersion;
    /** Elements, as text. */
    readonly header: string;
  } | null;
}

export interface Conversion {
  readonly body: Uint8Array;
  /** The body is a fault with this code. */
  readonly fault: FaultCode | null;
}

export interface XmlBody {
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
  /** A client's, not a backend's. */
  readonly request: boolean;
}

interface Compiled {
  readonly mapping: CompiledXmlMapping;
  readonly header: readonly XmlNode[];
}

/** Cache of compiled conversions, for the other thread. */
const compiled = new BoundedCache<string, Compiled>(32);

function compile(options: ConvertOptions): Compiled {
  const key = JSON.stringify(options);
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const made = {
    mapping: compileXmlMapping(options.mapping),
    header: options.soap === null ? [] : headerElements(options.soap.header),
  };
  compiled.set(key, made);
  return made;
}

/** XML to JSON, without the SOAP envelope if configured. Throws like `parseXml` does, and `XmlMappingError`. */
export function toJson({ bytes, contentType, request }: XmlBody, options: ConvertOptions): Conversion {
  const { mapping } = compile(options);
  const document = parseXml(bytes, { contentType, limits: mapping.limits });
  if (options.soap === null) return { body: utf8(jsonText(xmlToJson(document, mapping))), fault: null };
  const opened = openEnvelope(document, mapping, request);
  if (opened.kind === 'fault') return { body: utf8(jsonText(opened.body)), fault: opened.code };
  return { body: utf8(jsonText(bodyValue(opened.elements, mapping))), fault: null };
}

function bodyValue(elements: readonly XmlElement[], mapping: CompiledXmlMapping) {
  if (elements.length === 0) return null;
  return elements.length === 1 ? xmlToJson(elements[0] as XmlElement, mapping) : elementsToJson(elements, mapping);
}

/**
 * JSON to XML, in a SOAP envelope if configured. `failed`: the status of a response that becomes a fault; null: none. Throws like
 * `parseJson` and `jsonToXml`.
 */
export function toXml(bytes: Uint8Array, options: ConvertOptions, failed: number | null): Conversion {
  const { mapping, header } = compile(options);
  const value = parseJson(bytes);
  return { body: utf8(xmlText(document())), fault: null };

  function document(): XmlDocument {
    if (options.soap === null) return jsonToXml(value, mapping);
    const { version } = options.soap;
    if (failed !== null) return faultEnvelope(version, failed, value, mapping);
    return envelope(version, header, [jsonToXml(value, mapping).root]);
  }
}

function utf8(text: string): Uint8Array {
  return Buffer.from(text, 'utf8');
}
