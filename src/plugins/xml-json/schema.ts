import { array, boolean, type EntityCheck, type Infer, integer, map, record, string } from '../../plugin-sdk/schema.ts';
import { checkXmlPath, isNcName, isQName, xmlNamespace, xmlnsNamespace } from '../../plugin-sdk/xml.ts';
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

/** What cannot begin the name of an element, so that no member of JSON can be taken for one. */
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
      description: 'What the members of attributes begin with. It must begin with a sign that no name begins with.',
    }),
    text_name: string({
      required: true,
      default: '#text',
      match: marker,
      description: 'Member for the text of an element that has attributes, too.',
    }),
    content_name: string({
      required: true,
      default: '#content',
      match: marker,
      description: 'Member for a content whose order counts: texts, and objects with one member for elements.',
    }),
    strip_namespaces: boolean({
      required: true,
      default: false,
      description: 'XML to JSON: names lose their prefixes, and declarations of namespaces are dropped.',
    }),
    keep_root: boolean({
      required: true,
      default: true,
      description: 'XML to JSON: the root element is the one member of an object. Off: only what is in it is shown.',
    }),
    root: string({
      custom: (text: string) => (isQName(text) ? null : 'it is not a name in XML'),
      description:
        'JSON to XML: name of the root element. Null: an object with a single member gives the root; anything else is wrapped in `root`.',
    }),
    item_name: name('item', 'JSON to XML: element for what stands in an array within an array, or in one at the top.'),
    namespaces: map(prefix, namespace, {
      description: "JSON to XML: namespaces that the root declares, by prefix; '' for the default one.",
    }),
    arrays: paths('Elements that are arrays also when they occur once.'),
    ordered: paths('Elements whose content is always told in its order (`content_name`).'),
    numbers: paths('Elements and attributes that are numbers, where their text is one.'),
    booleans: paths('Elements and attributes that are booleans, where their text is `true`, `false`, `1` or `0`.'),
    strings: paths('Elements and attributes that stay text in spite of `infer`.'),
    cdata: paths('JSON to XML: elements whose text is written as a CDATA section.'),
    infer: boolean({
      required: true,
      default: false,
      description: 'Texts that look like a number, and would be written the same again, or like a boolean become one.',
    }),
    nulls: string({
      required: true,
      default: 'empty',
      one_of: ['empty', 'nil'] as const,
      description:
        '`empty`: null and empty elements stand for each other. `nil`: null is `xsi:nil="true"`, and an empty element is an empty text.',
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
        'JSON to XML: names that XML does not allow are escaped (`a b` as `a_x0020_b`), and read back; or refused.',
    }),
  },
  { required: true, description: 'How XML and JSON stand for each other.' },
);

const soap = record(
  {
    version: string({
      one_of: ['1.1', '1.2'] as const,
      description: 'Version of the envelopes that are made; those of both are read. Null: plain XML.',
    }),
    action: string({
      match: /^[\x21\x23-\x5b\x5d-\x7e]*$/,
      description: 'Action of the requests to a SOAP backend: `SOAPAction` (1.1), `action` of the media type (1.2).',
    }),
    header: string({
      referenceable: true,
      encrypted: true,
      custom: (text: string) => problemOf(() => headerElements(text)),
      description: 'XML elements for the header of the envelopes that are made; `soap` is the prefix of the envelope.',
    }),
    fault_statuses: map(
      string({ len_min: 1, description: 'Local name of a code or subcode, such as `Sender`, `Receiver`, `NotFound`.' }),
      integer({ between: [400, 599], description: 'A status.' }),
      {
        description:
          'Statuses of the answers that faults become. `Client` and `Server` of 1.1 are named `Sender` and `Receiver`. Else `Sender` is 400, `Receiver` 500, any other 502.',
      },
    ),
  },
  { required: true, description: 'The XML side speaks SOAP, when `version` is set.' },
);

export const config = record({
  backend: string({
    required: true,
    one_of: ['json', 'xml'] as const,
    description: 'What the backend speaks.',
  }),
  client: string({
    required: true,
    default: 'negotiate',
    one_of: ['negotiate', 'json', 'xml'] as const,
    description: 'What clients speak: what their `Accept` and `Content-Type` say, or always the same.',
  }),
  requests: boolean({ required: true, default: true, description: 'Bodies of requests are converted.' }),
  responses: boolean({ required: true, default: true, description: 'Bodies of answers are converted.' }),
  preferred: string({
    one_of: ['json', 'xml'] as const,
    description: 'What a client gets that accepts both equally and has sent neither. Null: what the backend speaks.',
  }),
  unfit: string({
    required: true,
    default: 'refuse',
    one_of: ['refuse', 'pass'] as const,
    description: 'A body of another type gets 415, a client that accepts neither 406; or both pass unchanged.',
  }),
  json_type: string({
    required: true,
    default: 'application/json',
    match: mediaType,
    description: 'Media type of the JSON that is made.',
  }),
  xml_type: string({
    match: mediaType,
    description:
      'Media type of the XML that is made. Null: `application/xml`, or `text/xml` for clients that like it better; with SOAP that of its version.',
  }),
  max_body_size: integer({
    required: true,
    default: 1_048_576,
    between: [1, 8_388_608],
    unit: 'bytes',
    description:
      'Largest body that is converted. Beyond it a client gets 413, for a backend 502. XML that is made of JSON may be eight times as large, up to 32 MiB.',
  }),
  max_depth: integer({
    required: true,
    default: 100,
    between: [1, 500],
    description: 'Most elements within each other.',
  }),
  max_nodes: integer({
    required: true,
    default: 250_000,
    between: [1, 500_000],
    description: 'Most elements, attributes and texts together.',
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
