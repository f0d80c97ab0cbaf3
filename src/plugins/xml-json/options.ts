import type { XmlMapping } from '../../plugin-kit/xml/index.ts';
import type { ConvertOptions } from './convert.ts';
import { type Format, otherFormat } from './formats.ts';
import type { XmlJsonConfig } from './schema.ts';

/** Characters. This thread copies each MiB that comes back from the other thread. */
const maxOutput = 32 * 1024 * 1024;

/** The configuration as the phases use it, computed once. */
export interface XmlJsonOptions {
  readonly backend: Format;
  /** The format that the backend does not use. */
  readonly other: Format;
  /** Null: it is negotiated. */
  readonly client: Format | null;
  readonly preferred: Format;
  readonly requests: boolean;
  readonly responses: boolean;
  readonly refuses: boolean;
  /** Media types of converted bodies, preferred first. */
  readonly types: Readonly<Record<Format, readonly string[]>>;
  /** `Accept` for the backend. */
  readonly backendAccept: string;
  /** `Content-Type` of requests that have been converted. */
  readonly backendType: string;
  /** Null: none. */
  readonly soapAction: string | null;
  readonly soapVersion: '1.1' | '1.2' | null;
  readonly faultStatuses: Readonly<Record<string, number>>;
  readonly convert: ConvertOptions;
}

export function optionsOf(config: XmlJsonConfig): XmlJsonOptions {
  const { backend, soap } = config;
  const types = { json: [config.json_type], xml: xmlTypes(config) };
  return {
    backend,
    other: otherFormat(backend),
    client: config.client === 'negotiate' ? null : config.client,
    preferred: config.preferred ?? backend,
    requests: config.requests,
    responses: config.responses,
    refuses: config.unfit === 'refuse',
    types,
    backendAccept:
      backend === 'json'
        ? config.json_type
        : types.xml.map((type, at) => (at === 0 ? type : `${type};q=0.9`)).join(', '),
    backendType: backend === 'json' ? config.json_type : requestXmlType(config, types.xml[0] as string),
    soapAction: soap.version !== '1.1' ? null : `"${soap.action ?? ''}"`,
    soapVersion: soap.version,
    faultStatuses: soap.fault_statuses ?? {},
    convert: {
      mapping: mappingOf(config),
      soap: soap.version === null ? null : { version: soap.version, header: soap.header ?? '' },
    },
  };
}

function xmlTypes({ xml_type: own, soap }: XmlJsonConfig): readonly string[] {
  if (own !== null) return [own];
  if (soap.version !== null) return [soap.version === '1.1' ? 'text/xml' : 'application/soap+xml'];
  return ['application/xml', 'text/xml'];
}

function requestXmlType({ soap }: XmlJsonConfig, type: string): string {
  const action = soap.version === '1.2' && soap.action !== null ? `; action="${soap.action}"` : '';
  return `${type}; charset=utf-8${action}`;
}

function mappingOf({
  backend,
  mapping,
  soap,
  max_depth: maxDepth,
  max_nodes: maxNodes,
  max_body_size: size,
}: XmlJsonConfig): XmlMapping {
  return {
    attributePrefix: mapping.attribute_prefix,
    textName: mapping.text_name,
    contentName: mapping.content_name,
    stripNamespaces: mapping.strip_namespaces,
    keepRoot: mapping.keep_root,
    root: mapping.root,
    // The root of a SOAP request names the operation, which only the client knows.
    defaultRoot: backend === 'xml' && soap.version !== null ? null : 'root',
    itemName: mapping.item_name,
    namespaces: mapping.namespaces ?? {},
    arrays: mapping.arrays ?? [],
    ordered: mapping.ordered ?? [],
    numbers: mapping.numbers ?? [],
    booleans: mapping.booleans ?? [],
    strings: mapping.strings ?? [],
    cdata: mapping.cdata ?? [],
    infer: mapping.infer,
    nulls: mapping.nulls,
    mixed: mapping.mixed,
    invalidNames: mapping.invalid_names,
    limits: { maxDepth, maxNodes },
    maxOutput: Math.min(8 * size, maxOutput),
  };
}
