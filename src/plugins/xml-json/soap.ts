import type { JsonObject, JsonValue } from '../../plugin-kit/json/index.ts';
import { isJsonObject } from '../../plugin-kit/json/index.ts';
import {
  attributeOf,
  type CompiledXmlMapping,
  childElements,
  elementsToJson,
  jsonToXml,
  ownText,
  parseXml,
  type XmlDocument,
  type XmlElement,
  XmlMappingError,
  type XmlNode,
  xmlnsNamespace,
} from '../../plugin-kit/xml/index.ts';

export type SoapVersion = '1.1' | '1.2';

const namespaces: Readonly<Record<SoapVersion, string>> = {
  '1.1': 'http://schemas.xmlsoap.org/soap/envelope/',
  '1.2': 'http://www.w3.org/2003/05/soap-envelope',
};

export interface FaultCode {
  /** Local name: `Client` and `Server` of SOAP 1.1 are reported as `Sender` and `Receiver`. */
  readonly main: string;
  /** Local name of the innermost subcode (1.2), or the part after the dot in the code (1.1); null: none. */
  readonly sub: string | null;
}

interface Fault {
  readonly kind: 'fault';
  readonly code: FaultCode;
  /** As JSON, for the client. */
  readonly body: JsonObject;
}

export type OpenedEnvelope = { readonly kind: 'body'; readonly elements: readonly XmlElement[] } | Fault;

/**
 * Extracts the body of an envelope of either version. Throws an `XmlMappingError` for a document that is not an envelope, and for a
 * request with a `mustUnderstand` header: headers are dropped.
 */
export function openEnvelope({ root }: XmlDocument, mapping: CompiledXmlMapping, request: boolean): OpenedEnvelope {
  const { uri } = root;
  if (root.local !== 'Envelope' || (uri !== namespaces['1.1'] && uri !== namespaces['1.2']))
    throw new XmlMappingError('it is no SOAP envelope');
  if (request && mustUnderstand(root)) throw new XmlMappingError('a header of the envelope must be understood');
  const bodies = childElements(root).filter((child) => child.local === 'Body' && child.uri === uri);
  const body = bodies[0];
  if (body === undefined || bodies.length > 1) throw new XmlMappingError('the envelope does not have one body');
  const elements = childElements(body);
  const fault = elements.find((child) => child.local === 'Fault' && child.uri === uri);
  if (fault === undefined) return { kind: 'body', elements };
  return uri === namespaces['1.1'] ? fault11(fault, mapping) : fault12(fault, mapping);
}

function mustUnderstand(root: XmlElement): boolean {
  const header = childElements(root).find((one) => one.local === 'Header' && one.uri === root.uri);
  if (header === undefined) return false;
  return childElements(header).some((block) =>
    /^\s*(?:1|true)\s*$/.test(attributeOf(block, root.uri, 'mustUnderstand') ?? ''),
  );
}

/** SOAP 1.1, 4.4: its children have no namespace. */
function fault11(fault: XmlElement, mapping: CompiledXmlMapping): Fault {
  const [code = '', ...more] = localName(textIn(fault, 'faultcode')).split('.');
  const main = code === 'Client' ? 'Sender' : code === 'Server' ? 'Receiver' : code;
  const parts = {
    message: textIn(fault, 'faultstring'),
    actor: textIn(fault, 'faultactor'),
    detail: child(fault, 'detail'),
  };
  return made({ main, sub: more.length === 0 ? null : more.join('.') }, parts, mapping);
}

/** SOAP 1.2, part 1, 5.4. */
function fault12(fault: XmlElement, mapping: CompiledXmlMapping): Fault {
  const code = child(fault, 'Code');
  let sub: string | null = null;
  let inner = code === null ? null : child(code, 'Subcode');
  while (inner !== null) {
    sub = localName(textIn(inner, 'Value'));
    inner = child(inner, 'Subcode');
  }
  const main = code === null ? '' : localName(textIn(code, 'Value'));
  const reason = child(fault, 'Reason');
  const message = reason === null ? '' : textIn(reason, 'Text');
  return made({ main, sub }, { message, actor: textIn(fault, 'Role'), detail: child(fault, 'Detail') }, mapping);
}

interface FaultParts {
  readonly message: string;
  readonly actor: string;
  readonly detail: XmlElement | null;
}

function made(code: FaultCode, { message, actor, detail }: FaultParts, mapping: CompiledXmlMapping): Fault {
  const body: JsonObject = { message: message === '' ? 'SOAP fault' : message, code: code.main };
  if (code.sub !== null) body['subcode'] = code.sub;
  if (actor !== '') body['actor'] = actor;
  const details = detail === null ? [] : childElements(detail);
  if (details.length > 0) body['detail'] = elementsToJson(details, mapping);
  else if (detail !== null && ownText(detail).trim() !== '') body['detail'] = ownText(detail);
  return { kind: 'fault', code, body };
}

function child(element: XmlElement, local: string): XmlElement | null {
  return childElements(element).find((one) => one.local === local) ?? null;
}

function textIn(element: XmlElement, local: string): string {
  const found = child(element, local);
  return found === null ? '' : ownText(found).trim();
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** Elements of a text, for the header of envelopes, whose prefix `soap` they may use. Throws what `parseXml` throws. */
export function headerElements(text: string): readonly XmlNode[] {
  if (text.trim() === '') return [];
  return childElements(parseXml(`<header xmlns:soap="${namespaces['1.1']}">${text}</header>`).root);
}

/** An envelope around these. */
export function envelope(version: SoapVersion, header: readonly XmlNode[], body: readonly XmlNode[]): XmlDocument {
  const parts = [
    ...(header.length === 0 ? [] : [soapElement(version, 'Header', header)]),
    soapElement(version, 'Body', body),
  ];
  const root = soapElement(version, 'Envelope', parts);
  const uri = namespaces[version];
  root.attributes.push({ name: 'xmlns:soap', prefix: 'xmlns', local: 'soap', uri: xmlnsNamespace, value: uri });
  return { kind: 'document', before: [], root, after: [] };
}

function soapElement(version: SoapVersion, local: string, children: readonly XmlNode[]): XmlElement {
  const uri = namespaces[version];
  return {
    kind: 'element',
    name: `soap:${local}`,
    prefix: 'soap',
    local,
    uri,
    attributes: [],
    children: [...children],
  };
}

function plainElement(name: string, children: readonly XmlNode[], lang = false): XmlElement {
  const xml = 'http://www.w3.org/XML/1998/namespace';
  const attributes = lang ? [{ name: 'xml:lang', prefix: 'xml', local: 'lang', uri: xml, value: 'en' }] : [];
  return { kind: 'element', name, prefix: '', local: name, uri: '', attributes, children: [...children] };
}

/** The error response of a JSON backend as a fault: its `message` is the reason, the whole response the detail. */
export function faultEnvelope(
  version: SoapVersion,
  status: number,
  value: JsonValue,
  mapping: CompiledXmlMapping,
): XmlDocument {
  const sender = status < 500;
  const reason: XmlNode = { kind: 'text', text: reasonOf(value, status), cdata: false };
  const detail = detailOf(value, mapping);
  if (version === '1.1') {
    const code: XmlNode = { kind: 'text', text: sender ? 'soap:Client' : 'soap:Server', cdata: false };
    const children = [plainElement('faultcode', [code]), plainElement('faultstring', [reason])];
    if (detail !== null) children.push(plainElement('detail', [detail]));
    return envelope(version, [], [soapElement(version, 'Fault', children)]);
  }
  const code: XmlNode = { kind: 'text', text: sender ? 'soap:Sender' : 'soap:Receiver', cdata: false };
  const text = {
    ...plainElement('soap:Text', [reason], true),
    prefix: 'soap',
    local: 'Text',
    uri: namespaces[version],
  };
  const children = [
    soapElement(version, 'Code', [soapElement(version, 'Value', [code])]),
    soapElement(version, 'Reason', [text]),
  ];
  if (detail !== null) children.push(soapElement(version, 'Detail', [detail]));
  return envelope(version, [], [soapElement(version, 'Fault', children)]);
}

/** HTTP status of a fault (SOAP 1.1, 6.2; SOAP 1.2, part 2, 7.5.2.2). */
export function faultHttpStatus(version: SoapVersion, status: number): number {
  return version === '1.2' && status < 500 ? 400 : 500;
}

function reasonOf(value: JsonValue, status: number): string {
  if (isJsonObject(value)) {
    for (const name of ['message', 'detail', 'title', 'error']) {
      const text = value[name];
      if (typeof text === 'string' && text !== '') return text;
    }
  }
  return `the service answered with status ${status}`;
}

/** Null: it has no form in XML. */
function detailOf(value: JsonValue, mapping: CompiledXmlMapping): XmlElement | null {
  try {
    return jsonToXml(value, { ...mapping, root: 'error', namespaces: {} }).root;
  } catch (error) {
    if (error instanceof XmlMappingError) return null;
    throw error;
  }
}
