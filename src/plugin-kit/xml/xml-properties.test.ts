import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createRandom, type Random } from '../../data/router/testing/random.ts';
import { type JsonObject, type JsonValue, jsonText, parseJson, setMember } from '../json/json.ts';
import {
  bodyFault,
  jsonToXml,
  parseXml,
  type XmlAttribute,
  type XmlDocument,
  type XmlElement,
  type XmlMapping,
  type XmlNode,
  xmlNamespace,
  xmlText,
  xmlToJson,
} from './index.ts';

const runs = 300;
const texts = ['x', ' ', '\n\t', '<&>"\'', ']]>', 'é\u{1f600}', '\r\n', '0', 'true', '\u0085', '-->'];
const names = [
  'a',
  'b',
  '_c',
  'd-e.f',
  'é',
  'a_x0020_b',
  '_x0041_',
  '_x0023_text',
  '_x005F_x0020_',
  '__proto__',
  'toString',
];
const namespaces: Readonly<Record<string, string>> = { '': 'urn:d', p: 'urn:p', q: 'urn:q' };

/** Runs with a seed that a failure names; `SEED` in the environment repeats it. */
function property(name: string, check: (random: Random) => void): void {
  it(name, () => {
    const random = createRandom();
    for (let run = 0; run < runs; run++) {
      try {
        check(random);
      } catch (error) {
        throw new Error(`SEED=${random.seed}, run ${run}`, { cause: error });
      }
    }
  });
}

function attribute(name: string, uri: string, value: string): XmlAttribute {
  const colon = name.indexOf(':');
  return { name, prefix: colon < 0 ? '' : name.slice(0, colon), local: name.slice(colon + 1), uri, value };
}

/** A text, without neighbours that would be read as one with it. */
function text(random: Random, cdata: boolean): XmlNode {
  const found = random.some(texts, 0.3).join('') || 'x';
  return { kind: 'text', text: found, cdata };
}

function element(random: Random, depth: number, plain: boolean): XmlElement {
  const prefix = random.pick(Object.keys(namespaces));
  const local = random.pick(names);
  const made = random.some(['m', 'p:m', 'q:m', 'n'], 0.2);
  const attributes = made.map((name) =>
    attribute(
      name,
      name.includes(':') ? (namespaces[name.slice(0, 1)] as string) : '',
      random.some(texts, 0.3).join(''),
    ),
  );
  const children: XmlNode[] = [];
  for (let left = depth === 0 ? 0 : random.below(4); left > 0; left--) {
    const last = children.at(-1)?.kind;
    const kind = random.below(plain ? 2 : 5);
    if (kind === 0 && last !== 'text') children.push(text(random, false));
    else if (kind === 2 && last !== 'text') children.push(text(random, true));
    else if (kind === 3) children.push({ kind: 'comment', text: random.pick(['', ' c ', '<&']) });
    else if (kind === 4) children.push({ kind: 'instruction', target: 'p', text: random.pick(['', 'a="b"', '<&>']) });
    else children.push(element(random, depth - 1, plain));
  }
  const name = prefix === '' ? local : `${prefix}:${local}`;
  return { kind: 'element', name, prefix, local, uri: namespaces[prefix] as string, attributes, children };
}

function documentOf(random: Random, plain: boolean): XmlDocument {
  const root = element(random, 4, plain);
  for (const [prefix, uri] of Object.entries(namespaces)) {
    const name = prefix === '' ? 'xmlns' : `xmlns:${prefix}`;
    root.attributes.push(attribute(name, 'http://www.w3.org/2000/xmlns/', uri));
  }
  return { kind: 'document', before: [], root, after: [] };
}

property('a tree is read as it was written', (random) => {
  const tree = documentOf(random, false);
  // A carriage return in CDATA has to be written outside of it.
  const written = xmlText(tree);
  const again = xmlText(parseXml(written, { comments: true }));
  assert.equal(again, written);
  if (!written.includes(']]><![CDATA[') && !written.includes('&#13;'))
    assert.deepEqual(parseXml(written, { comments: true }), tree);
});

property('XML becomes JSON and the same XML again, where order and white space are kept', (random) => {
  const tree = documentOf(random, true);
  tree.root.attributes.push(attribute('xml:space', xmlNamespace, 'preserve'));
  const mapping: XmlMapping = { ordered: ['*'], nulls: random.pick(['empty', 'nil'] as const) };
  const json = parseJson(jsonText(xmlToJson(tree, mapping)));
  assert.deepEqual(jsonToXml(json, mapping), tree);
});

const members = ['a', 'b', 'first name', '1st', '__proto__', 'a_x0020_b', '_x0041_', '<', 'é', '', '-', '$', 'xml'];

function jsonLeaf(random: Random): JsonValue {
  return random.below(8) === 0 ? null : random.some(texts, 0.4).join('');
}

function jsonObject(random: Random, depth: number): JsonObject {
  const object: JsonObject = {};
  for (const name of random.some(members, 0.2)) {
    if (name !== '') setMember(object, `@${name}`, random.some(texts, 0.3).join(''));
  }
  let elements = 0;
  for (const name of random.some(members, 0.3)) {
    if (name === '' || depth === 0) continue;
    elements++;
    const many = random.below(3) === 0;
    setMember(
      object,
      name,
      many ? [jsonValue(random, depth - 1), jsonValue(random, depth - 1)] : jsonValue(random, depth - 1),
    );
  }
  if (Object.keys(object).length === 0) return { a: 'x' };
  if (random.below(3) === 0) object['#text'] = elements === 0 ? `${random.pick(texts)}x` : 'x y';
  return object;
}

function jsonValue(random: Random, depth: number): JsonValue {
  return depth === 0 || random.below(3) === 0 ? jsonLeaf(random) : jsonObject(random, depth);
}

property('JSON becomes XML and the same JSON again, where null differs from absence', (random) => {
  const mapping: XmlMapping = { nulls: 'nil', mixed: 'text' };
  const value = parseJson(jsonText({ root: jsonValue(random, 3) }));
  const xml = xmlText(jsonToXml(value, mapping));
  assert.deepEqual(sorted(xmlToJson(xml, mapping)), sorted(value), xml);
});

/** Texts come before elements when they are read, so members are compared in the order of their names. */
function sorted(value: JsonValue): string {
  return JSON.stringify(value, (_, inner: JsonValue) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))
      : inner,
  );
}

const pieces = [
  '<a',
  '<p:b xmlns:p="u"',
  '/>',
  '>',
  '</a>',
  '</p:b>',
  ' c="d"',
  '&amp;',
  '&#x',
  '1;',
  '<!--',
  '-->',
  '--',
  '<![CDATA[',
  ']]>',
  '<?',
  '?>',
  '<!DOCTYPE',
  'x',
  ' ',
  '\r',
  '\ud83d\ude00',
  '\ud83d',
  '"',
  ':',
  '\x00',
];

property('whatever is accepted can be written and read again, and nothing fails but the body', (random) => {
  let document = random.below(2) === 0 ? xmlText(documentOf(random, false)) : '<a>';
  for (let changes = 1 + random.below(4); changes > 0; changes--) {
    const at = random.below(document.length);
    document = document.slice(0, at) + random.pick(pieces) + document.slice(at + random.below(6));
  }
  try {
    const tree = parseXml(document, { comments: true });
    assert.doesNotMatch(document, /^<!DOCTYPE/);
    const written = xmlText(tree);
    assert.equal(xmlText(parseXml(written, { comments: true })), written);
    const back = xmlText(jsonToXml(xmlToJson(tree)));
    parseXml(back);
  } catch (error) {
    assert.notEqual(bodyFault(error), null, String(error));
  }
});

function anyJson(random: Random, depth: number): JsonValue {
  const kind = depth === 0 ? 0 : random.below(3);
  if (kind === 1) return Array.from({ length: random.below(3) }, () => anyJson(random, depth - 1));
  if (kind === 2) {
    const object: JsonObject = {};
    for (let left = random.below(4); left > 0; left--) {
      const name = random
        .some(['@', '#text', '#content', 'xmlns', ':', 'p', ' ', '\u0000', '<', 'xml', 'urn:x'], 0.2)
        .join('');
      setMember(object, name || 'a', anyJson(random, depth - 1));
    }
    return object;
  }
  return random.pick<JsonValue>([
    null,
    true,
    0,
    1e300,
    '',
    'x',
    '\u0001',
    '\ud800',
    '</a>',
    'http://www.w3.org/2000/xmlns/',
  ]);
}

property('any JSON becomes well-formed XML, or is refused', (random) => {
  const mapping: XmlMapping = {
    root: random.pick([null, 'r']),
    defaultRoot: random.pick([null, 'root']),
    nulls: random.pick(['empty', 'nil'] as const),
    namespaces: random.pick([{}, { '': 'd', p: 'u' }]),
  };
  try {
    const tree = jsonToXml(anyJson(random, 5), mapping);
    assert.equal(xmlText(parseXml(xmlText(tree))), xmlText(tree));
  } catch (error) {
    assert.ok(['mapping', 'limit'].includes(String(bodyFault(error))), String(error));
  }
});
