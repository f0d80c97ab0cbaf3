import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jsonText, parseJson } from '../json/json.ts';
import { jsonToXml, pathStates, type XmlMapping, XmlMappingError, XmlPathError, xmlText, xmlToJson } from './index.ts';

const toJson = (xml: string, mapping: XmlMapping = {}) => jsonText(xmlToJson(xml, mapping));
const toXml = (json: string, mapping: XmlMapping = {}) =>
  xmlText(jsonToXml(parseJson(json), mapping), { declaration: false });

type Case = readonly [what: string, from: string, to: string, mapping?: XmlMapping];

const toJsonCases: readonly Case[] = [
  ['text', '<a> x </a>', '{"a":" x "}'],
  ['an empty element', '<a/>', '{"a":null}'],
  ['an empty element, with nil', '<a><b/></a>', '{"a":{"b":""}}', { nulls: 'nil' }],
  [
    'nil of any prefix',
    '<a xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><b i:nil="true"/><c i:nil="1" d="e"/></a>',
    '{"a":{"@xmlns:i":"http://www.w3.org/2001/XMLSchema-instance","b":null,"c":{"@i:nil":"1","@d":"e"}}}',
    { nulls: 'nil' },
  ],
  ['attributes and text', '<a b="1">x</a>', '{"a":{"@b":"1","#text":"x"}}'],
  ['another prefix and name', '<a b="1">x</a>', '{"a":{"$b":"1","%":"x"}}', { attributePrefix: '$', textName: '%' }],
  ['elements that repeat', '<a><b>1</b><c/><b>2</b></a>', '{"a":{"b":["1","2"],"c":null}}'],
  ['an array of one', '<a><b>1</b></a>', '{"a":{"b":["1"]}}', { arrays: ['/a/b'] }],
  ['arrays anywhere', '<a><c><b/></c></a>', '{"a":{"c":{"b":[null]}}}', { arrays: ['b'] }],
  ['white space between elements', '<a>\n  <b/>\n</a>', '{"a":{"b":null}}'],
  [
    'white space that must be kept',
    '<a xml:space="preserve"> <b/><c xml:space="default"> <d/></c></a>',
    '{"a":{"@xml:space":"preserve","#content":[" ",{"b":null},{"c":{"@xml:space":"default","d":null}}]}}',
  ],
  ['text between elements', '<p>Hello <b>you</b> !</p>', '{"p":{"#content":["Hello ",{"b":"you"}," !"]}}'],
  ['the same, joined', '<p>Hello <b>you</b>!</p>', '{"p":{"#text":"Hello !","b":"you"}}', { mixed: 'text' }],
  ['order', '<p><b/><i/><b/></p>', '{"p":{"#content":[{"b":null},{"i":null},{"b":null}]}}', { ordered: ['/p'] }],
  ['CDATA', '<a>x<![CDATA[<y>]]></a>', '{"a":"x<y>"}'],
  ['namespaces', '<p:a xmlns:p="u" p:b="c"/>', '{"p:a":{"@xmlns:p":"u","@p:b":"c"}}'],
  [
    'without namespaces',
    '<p:a xmlns:p="u" p:b="c" b="d"><p:e/><e/></p:a>',
    '{"a":{"@b":"d","e":[null,null]}}',
    { stripNamespaces: true },
  ],
  ['without the root', '<a><b>1</b></a>', '{"b":"1"}', { keepRoot: false }],
  [
    'numbers with all their digits',
    '<a n="7"><n>12345678901234567890</n><n> 1.5 </n><n>0x1</n><n>1e400</n></a>',
    '{"a":{"@n":7,"n":[12345678901234567890,1.5,"0x1",1e400]}}',
    { numbers: ['n', '@n'] },
  ],
  ['booleans', '<a><b>1</b><b>false</b><b>yes</b></a>', '{"a":{"b":[true,false,"yes"]}}', { booleans: ['b'] }],
  [
    'what looks like something',
    '<a><b>1</b><b>01</b><b>1.50</b><b>true</b><b>9007199254740993</b><c>1</c></a>',
    '{"a":{"b":[1,"01","1.50",true,"9007199254740993"],"c":"1"}}',
    { infer: true, strings: ['c'] },
  ],
  ['nothing by itself', '<a>1</a>', '{"a":"1"}'],
  [
    'escaped names',
    '<a><b_x0020_c/><_x0041_/><_x0023_text/></a>',
    '{"a":{"b c":null,"_x0041_":null,"_x0023_text":null}}',
  ],
  ['escapes left alone', '<b_x0020_c/>', '{"b_x0020_c":null}', { invalidNames: 'refuse' }],
  ['comments and instructions', '<a>x<!-- c --><?p i?>y</a>', '{"a":"xy"}'],
];

describe('XML to JSON', () => {
  for (const [what, from, to, mapping] of toJsonCases) it(what, () => assert.equal(toJson(from, mapping), to));
});

const toXmlCases: readonly Case[] = [
  [
    'attributes, text, elements',
    '{"a":{"b":[1,true],"@c":"<\\"\\n","#text":"x"}}',
    '<a c="&lt;&quot;&#10;"><b>1</b><b>true</b>x</a>',
  ],
  ['null and empty', '{"a":{"b":null,"c":"","d":{},"e":[],"@f":null}}', '<a><b/><c/><d/></a>'],
  [
    'null as nil',
    '{"a":{"b":null,"c":""}}',
    '<a xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><b xsi:nil="true"/><c/></a>',
    { nulls: 'nil' },
  ],
  ['a root for anything', '[1,[2]]', '<list><item>1</item><item><item>2</item></item></list>', { root: 'list' }],
  ['a root for a text', '"x"', '<r>x</r>', { root: 'r' }],
  ['several members in the default root', '{"a":1,"b":{"c":2}}', '<root><a>1</a><b><c>2</c></b></root>'],
  ['no member in the default root', '{}', '<root/>'],
  ['an array in the default root', '[1,2]', '<root><item>1</item><item>2</item></root>'],
  ['several elements of one name in the default root', '{"a":[1,2]}', '<root><a>1</a><a>2</a></root>'],
  ['an attribute of the default root', '{"@a":1}', '<root a="1"/>'],
  ['a text in the default root', '"x"', '<root>x</root>'],
  ['a default root of another name', '{}', '<answer/>', { defaultRoot: 'answer' }],
  ['an array of one as the root', '{"a":[{"b":1}]}', '<a><b>1</b></a>'],
  ['order', '{"p":{"#content":["x",{"b":1},{"b":[2,3]},4]}}', '<p>x<b>1</b><b>2</b><b>3</b>4</p>'],
  [
    'CDATA',
    '{"a":{"b":"]]>\\r","c":"<"}}',
    '<a><b><![CDATA[]]]]><![CDATA[>]]>&#13;<![CDATA[]]></b><c>&lt;</c></a>',
    { cdata: ['b'] },
  ],
  ['line ends', '{"a":"x\\r\\n\\ty"}', '<a>x&#13;\n\ty</a>'],
  [
    'namespaces',
    '{"p:a":{"@xmlns:q":"v","q:b":1}}',
    '<p:a xmlns="d" xmlns:p="u" xmlns:q="v"><q:b>1</q:b></p:a>',
    { namespaces: { '': 'd', p: 'u' } },
  ],
  [
    'a namespace that the value declares itself',
    '{"p:a":{"@xmlns:p":"v"}}',
    '<p:a xmlns:p="v"/>',
    { namespaces: { p: 'u' } },
  ],
  [
    'names',
    '{"a":{"b c":1,"1":2,"_x0020_":3,":":4}}',
    '<a><_x0031_>2</_x0031_><b_x0020_c>1</b_x0020_c><_x005F_x0020_>3</_x005F_x0020_><_x003A_>4</_x003A_></a>',
  ],
  ['digits', '{"a":12345678901234567890.10}', '<a>12345678901234567890.10</a>'],
];

describe('JSON to XML', () => {
  for (const [what, from, to, mapping] of toXmlCases) it(what, () => assert.equal(toXml(from, mapping), to));

  const refused: Readonly<Record<string, readonly [json: string, message: RegExp, mapping?: XmlMapping]>> = {
    'two roots': ['{"a":1,"b":2}', /one member/, { defaultRoot: null }],
    'no root': ['{}', /one member/, { defaultRoot: null }],
    'an attribute as the root': ['{"@a":1}', /one member/, { defaultRoot: null }],
    'several roots of one name': ['{"a":[1,2]}', /one member/, { defaultRoot: null }],
    'an attribute with members': ['{"a":{"@b":{}}}', /attribute must be .*place 1/],
    'a text with members': ['{"a":{"c":1,"#text":[1]}}', /text must be .*place 2/],
    'order next to members': ['{"a":{"#content":[],"b":1}}', /together/],
    'order that is no list': ['{"a":{"#content":{}}}', /array/],
    'an element in its order with two names': ['{"a":{"#content":[{"b":1,"c":2}]}}', /one member .*place 1.1/],
    'an attribute in its order': ['{"a":{"#content":[{"@b":1}]}}', /one member/],
    'an empty name': ['{"a":{"":1}}', /a name that is none/],
    'an attribute without a name': ['{"a":{"@":1}}', /a name that is none/],
    'a prefix that is not bound': ['{"a":{"p:b":1}}', /prefix is not bound.*place 1/],
    'the prefix xmlns': ['{"xmlns:a":1}', /prefix is not bound/],
    'an attribute twice by its namespace': ['{"a":{"@xmlns:p":"u","@xmlns:q":"u","@p:b":1,"@q:b":1}}', /twice/],
    'xmlns declared': ['{"a":{"@xmlns:xmlns":"u"}}', /declaration/],
    'xml declared otherwise': ['{"a":{"@xmlns:xml":"u"}}', /declaration/],
    'a prefix for nothing': ['{"a":{"@xmlns:p":""}}', /declaration/],
    'a control character': ['{"a":"\\u0000"}', /character/],
    'a lone surrogate': ['{"a":"\\ud800"}', /character/],
    'a lone surrogate in a name': ['{"a\\ud800":1}', /a name that is none/],
    'a name that is none, where that is not escaped': ['{"a b":1}', /a name that is none/, { invalidNames: 'refuse' }],
  };
  for (const [what, [json, message, mapping]] of Object.entries(refused)) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => toXml(json, mapping),
        (error: Error) => error instanceof XmlMappingError && message.test(error.message),
      );
    });
  }

  it('does not grow beyond its limits', () => {
    const long = JSON.stringify({ a: { [`b${'x'.repeat(500)}`]: Array(1000).fill(1) } });
    assert.throws(() => toXml(long, { maxOutput: 100_000 }), /longer than 100000 characters/);
    assert.throws(() => toXml(long, { limits: { maxNodes: 100 } }), /more than 100 nodes/);
    assert.throws(() => toXml(long, { limits: { maxNameLength: 100 } }), /name of more than 100/);
    assert.throws(() => toXml('{"a":{"b":{"c":1}}}', { limits: { maxDepth: 1 } }), /deeper than 1 level/);
  });
});

describe('paths', () => {
  const matches = (path: string, ...names: string[]): boolean => {
    let state = pathStates([[path, 1]]);
    for (const name of names) state = state?.next(name) ?? null;
    return state?.flags === 1;
  };
  const cases: readonly (readonly [path: string, names: readonly string[], expected: boolean])[] = [
    ['/a', ['a'], true],
    ['/a', ['b', 'a'], false],
    ['a', ['b', 'a'], true],
    ['//a', ['a'], true],
    ['a/b', ['x', 'a', 'b'], true],
    ['a/b', ['a', 'x', 'b'], false],
    ['a//b', ['a', 'x', 'b'], true],
    ['a/b', ['a', 'a', 'b'], true],
    ['/a/*/b', ['a', 'x', 'b'], true],
    ['/a/*/b', ['a', 'b'], false],
    ['*', ['a', 'b'], true],
    ['*', ['a', '@b'], false],
    ['a/@b', ['x', 'a', '@b'], true],
    ['@*', ['a', '@b'], true],
    ['@b', ['a', 'b'], false],
    ['p:a', ['p:a'], true],
  ];
  for (const [path, names, expected] of cases) {
    it(`${path} ${expected ? 'is' : 'is not'} ${names.join('/')}`, () =>
      assert.equal(matches(path, ...names), expected));
  }

  it('that are none are refused', () => {
    for (const path of ['', '/', 'a/', 'a///b', '@a/b', 'a b', 'a@b', '@'])
      assert.throws(() => pathStates([[path, 1]]), XmlPathError, path);
  });
});
