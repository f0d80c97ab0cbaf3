import { checkXmlPath, isNcName, isQName, xmlNamespace, xmlnsNamespace } from '../../plugin-kit/xml/index.ts';
import { array, boolean, type EntityCheck, type Infer, integer, map, record, string } from '../../plugin-sdk/schema.ts';
import { headerElements } from './soap.ts';

function problemOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

function paths(description: string) {
  const path = string({
    len_min: 1,
    custom: (text: string) => problemOf(() => checkXmlPath(text)),
    description: 'A path such as `/catalog/item`, `item`, `catalog//price`, `item/@id`.',
  });
  return array(path, { len_max: 256, description });
}

/** Characters that cannot begin an element name, so that no JSON member can be mistaken for an element. */
const marker = /^[^A-Za-z_:\s/\u0080-\uffff][^\s/]*$/;
const mediaType = /^[!#$&\-^_.+A-Za-z0-9]+\/[!#$&\-^_.+A-Za-z0-9]+$/;

const prefix = string({
  len_min: 0,
  custom: (text: string) =>
    text === '' || (isNcName(text) && text !== 'xml' && text !== 'xmlns') ? null : 'it is not a prefix',
  description: "A prefix; '' for the default namespace.",
});
const namespace = string({
  len_min: 1,
  custom: (text: string) => (text === xmlNamespace || text === xmlnsNamespace ? 'it is reserved' : null),
  description: 'A namespace.',
});

function name(value: string, description: string) {
  return string({
    required: true,
    default: value,
    custom: (text: string) => (isQName(text) ? null : 'it is not a name in XML'),
    description,
  });
}

const mapping = record(
  {
    attribute_prefix: string({
      required: true,
      default: '@',
      match: marker,
      description: 'Prefix of members for attributes. It must begin with a character that no name begins with.',
    }),
    text_name: string({
      required: true,
      default: '#text',
      match: marker,
      description: 'Member for the text of an element with attributes.',
    }),
    content_name: string({
      required: true,
      default: '#content',
      match: marker,
      description: 'Member for content whose order counts: strings, and objects with one member for elements.',
    }),
    strip_namespaces: boolean({
      required: true,
      default: false,
      description: 'XML to JSON: removes prefixes from names, and declarations of namespaces.',
    }),
    keep_root: boolean({
      required: true,
      default: true,
      description: 'XML to JSON: the root element is the single member of an object. If off, only its content is used.',
    }),
    root: string({
      custom: (text: string) => (isQName(text) ? null : 'it is not a name in XML'),
      description:
        'JSON to XML: name of the root element. Null: the single member of an object is the root; anything else is wrapped in `root`.',
    }),
    item_name: name(
      'item',
      'JSON to XML: element name for items of an array within an array, or of an array at the top level.',
    ),
    namespaces: map(prefix, namespace, {
      description: "JSON to XML: namespaces that are declared at the root, by prefix; '' is the default one.",
    }),
    arrays: paths('Elements that are arrays even if they occur once.'),
    ordered: paths('Elements whose content keeps its order (`content_name`).'),
    numbers: paths('Elements and attributes that are numbers, if their text is one.'),
    booleans: paths('Elements and attributes that are booleans, if their text is `true`, `false`, `1` or `0`.'),
    strings: paths('Elements and attributes that stay strings with `infer`.'),
    cdata: paths('JSON to XML: elements whose text is written as a CDATA section.'),
    infer: boolean({
      required: true,
      default: false,
      description:
        'Converts texts that look like a number, and would be written the same way again, or like a boolean.',
    }),
    nulls: string({
      required: true,
      default: 'empty',
      one_of: ['empty', 'nil'] as const,
      description:
        '`empty`: null and an empty element are equivalent. `nil`: null is `xsi:nil="true"`, and an empty element is an empty string.',
    }),
    mixed: string({
      required: true,
      default: 'ordered',
      one_of: ['ordered', 'text'] as const,
      description: 'Text between elements: `ordered` keeps its place (`content_name`), `text` joins it (`text_name`).',
    }),
    invalid_names: string({
      required: true,
      default: 'escape',
      one_of: ['escape', 'refuse'] as const,
      description:
        'JSON to XML: `escape`: names that XML does not allow are escaped (`a b` as `a_x0020_b`), and unescaped again. `refuse`: they are an error.',
    }),
  },
  { required: true, description: 'How XML and JSON are mapped to each other.' },
);

const soap = record(
  {
    version: string({
      one_of: ['1.1', '1.2'] as const,
      description: 'Version of generated envelopes; both versions are read. Null: plain XML.',
    }),
    action: string({
      match: /^[\x21\x23-\x5b\x5d-\x7e]*$/,
      description: 'Action of requests to a SOAP backend: `SOAPAction` (1.1), `action` of the content type (1.2).',
    }),
    header: string({
      referenceable: true,
      encrypted: true,
      custom: (text: string) => problemOf(() => headerElements(text)),
      description: 'XML elements for the header of generated envelopes; `soap` is the prefix of the envelope.',
    }),
    fault_statuses: map(
      string({ len_min: 1, description: 'Local name of a code or subcode, such as `Sender`, `Receiver`, `NotFound`.' }),
      integer({ between: [400, 599], description: 'A status.' }),
      {
        description:
          'HTTP statuses of faults, by their code. `Client` and `Server` of 1.1 are named `Sender` and `Receiver`. Default: `Sender` is 400, `Receiver` 500, any other 502.',
      },
    ),
  },
  { required: true, description: 'SOAP on the XML side, if `version` is set.' },
);

export const config = record({
  backend: string({
    required: true,
    one_of: ['json', 'xml'] as const,
    description: 'Format of the backend.',
  }),
  client: string({
    required: true,
    default: 'negotiate',
    one_of: ['negotiate', 'json', 'xml'] as const,
    description: 'Format of clients: by their `Accept` and `Content-Type`, or always the same.',
  }),
  requests: boolean({ required: true, default: true, description: 'Converts request bodies.' }),
  responses: boolean({ required: true, default: true, description: 'Converts bodies of responses.' }),
  preferred: string({
    one_of: ['json', 'xml'] as const,
    description: 'Format for clients that accept both equally and have sent neither. Null: that of the backend.',
  }),
  unfit: string({
    required: true,
    default: 'refuse',
    one_of: ['refuse', 'pass'] as const,
    description:
      '`refuse`: a body of another type gets 415, and a client that accepts neither format 406. `pass`: both pass unchanged.',
  }),
  json_type: string({
    required: true,
    default: 'application/json',
    match: mediaType,
    description: 'Content type of converted JSON.',
  }),
  xml_type: string({
    match: mediaType,
    description:
      'Content type of converted XML. Null: `application/xml`, or `text/xml` for clients that prefer it; with SOAP that of its version.',
  }),
  max_body_size: integer({
    required: true,
    default: 1_048_576,
    between: [1, 8_388_608],
    unit: 'bytes',
    description:
      'Maximum size of a body that is converted. A larger one gets 413, from a backend 502. XML made from JSON may be eight times as large, up to 32 MiB.',
  }),
  max_depth: integer({
    required: true,
    default: 100,
    between: [1, 500],
    description: 'Maximum depth of nested elements.',
  }),
  max_nodes: integer({
    required: true,
    default: 250_000,
    between: [1, 500_000],
    description: 'Maximum number of elements, attributes and texts together.',
  }),
  mapping,
  soap,
});

export type XmlJsonConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  {
    custom_entity_check: {
      field_sources: ['config.mapping'],
      fn: (value) => {
        const { mapping: m } = (value['config'] ?? {}) as { readonly mapping?: XmlJsonConfig['mapping'] };
        if (m === undefined || m === null) return null;
        if (m.text_name === m.content_name) return 'text_name and content_name must differ';
        const inPrefix = [m.text_name, m.content_name].some((member) => member.startsWith(m.attribute_prefix));
        return inPrefix ? 'text_name and content_name must not begin with attribute_prefix' : null;
      },
    },
  },
  {
    custom_entity_check: {
      field_sources: ['config.soap'],
      fn: (value) => {
        const { soap: s } = (value['config'] ?? {}) as { readonly soap?: XmlJsonConfig['soap'] };
        if (s === undefined || s === null || s.version !== null) return null;
        if (s.action === null && s.header === null && s.fault_statuses === null) return null;
        return { 'config.soap.version': 'required when other fields of soap are set' };
      },
    },
  },
];
