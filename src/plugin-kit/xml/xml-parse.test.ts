import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BodySyntaxError } from '../json/body-syntax-error.ts';
import { bodyFault, type ParseXmlOptions, parseXml, XmlEncodingError, XmlLimitError, xmlText } from './index.ts';

/** Documents that are not well-formed, or that are refused although they are, and the place where that is noticed. */
const refused: Readonly<Record<string, readonly [text: string, where: string]>> = {
  nothing: ['', 'line 1, column 1'],
  'an attribute twice': ['<a b="1" b="2"/>', 'line 1, column 16'],
  'an attribute twice, by its namespace': ['<a xmlns:x="u" xmlns:y="u" x:b="1" y:b="2"/>', 'line 1, column 44'],
  'an element of an unknown prefix': ['<x:a/>', 'line 1, column 6'],
  'an attribute of an unknown prefix': ['<a x:b="1"/>', 'line 1, column 12'],
  'a prefix that is unknown by then': ['<a><b xmlns:x="u"/><x:c/></a>', 'line 1, column 25'],
  'another end tag': ['<a>\n<b></a></b>', 'line 2, column 7'],
  'no end tag': ['<a><b></b>', 'line 1, column 10'],
  'an end tag too many': ['<a/></a>', 'line 1, column 8'],
  'text behind the root': ['<a/>\ntext', 'line 2, column 5'],
  'text before the root': ['text<a/>', 'line 1, column 5'],
  'two roots': ['<a/><b/>', 'line 1, column 7'],
  'a CDATA section behind the root': ['<a/><![CDATA[x]]>', 'line 1, column 13'],
  'a control character': ['<a>\x01</a>', 'line 1, column 4'],
  'a reference to a control character': ['<a>&#1;</a>', 'line 1, column 7'],
  'a reference without a number': ['<a>&#;</a>', 'line 1, column 6'],
  'a hexadecimal reference without a number': ['<a b="&#x;"/>', 'line 1, column 10'],
  'a reference that is no number': ['<a>&#12a;</a>', 'line 1, column 9'],
  'a reference to nothing': ['<a>&#x110000;</a>', 'line 1, column 13'],
  'a reference to a surrogate': ['<a>&#xD800;</a>', 'line 1, column 11'],
  'U+FFFF': ['<a>\uffff</a>', 'line 1, column 4'],
  'a lone surrogate': ['<a>\ud800</a>', 'line 1, column 8'],
  ']]> in text': ['<a>]]></a>', 'line 1, column 6'],
  '-- in a comment': ['<a><!-- a -- b --></a>', 'line 1, column 13'],
  '< in an attribute': ['<a b="<"/>', 'line 1, column 7'],
  'a bare ampersand': ['<a>fish & chips</a>', 'line 1, column 19'],
  'an unknown entity': ['<a>&nbsp;</a>', 'line 1, column 9'],
  'a name that objects have': ['<a>&constructor;</a>', 'line 1, column 16'],
  'an attribute without quotes': ['<a b=1/>', 'line 1, column 6'],
  'an attribute without a value': ['<a b/>', 'line 1, column 5'],
  'attributes without a space': ['<a b="1"c="2"/>', 'line 1, column 9'],
  'a name with two colons': ['<a:b:c xmlns:a="u"/>', 'line 1, column 20'],
  'a name that begins with a digit behind its prefix': ['<a:1 xmlns:a="u"/>', 'line 1, column 18'],
  'an instruction with a colon': ['<?a:b c?><a/>', 'line 1, column 9'],
  'a name that begins with a digit': ['<1a/>', 'line 1, column 2'],
  'an attribute in an end tag': ['<a></a b="1">', 'line 1, column 8'],
  'a declaration that is late': [' <?xml version="1.0"?><a/>', 'line 1, column 7'],
  'XML 1.1': ['<?xml version="1.1"?><a/>', 'line 1, column 25'],
  'the prefix xmlns declared': ['<a xmlns:xmlns="u"/>', 'line 1, column 20'],
  'the prefix xml declared otherwise': ['<a xmlns:xml="u"/>', 'line 1, column 18'],
  'a prefix for no namespace': ['<a xmlns:x=""/>', 'line 1, column 15'],
  'a document type': ['<!DOCTYPE a><a/>', 'line 1, column 1'],
  'an external document type': ['\n<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', 'line 2, column 1'],
  'a document type with entities': ['<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>', 'line 1, column 1'],
};

function failure(body: Uint8Array | string, options?: ParseXmlOptions): Error {
  try {
    parseXml(body, options);
  } catch (error) {
    return error as Error;
  }
  throw new Error('it was accepted');
}

describe('documents that are refused', () => {
  for (const [what, [text, where]] of Object.entries(refused)) {
    it(what, () => {
      const error = failure(text);
      assert.ok(error instanceof BodySyntaxError, String(error));
      assert.equal(error.where, where);
    });
  }

  it('with messages that show nothing of them', () => {
    for (const text of ['<secret></a>', '<secret:a/>', '<a secret="1" secret="2"/>', '<secret>', '<a>&secret;</a>'])
      assert.doesNotMatch(failure(text).message, /secret/, text);
  });
});

describe('what is read', () => {
  it('is the tree with order, prefixes, namespaces and texts', () => {
    const { before, root, after } = parseXml(
      '<?xml version="1.0"?>\n<!-- c --><?p i?><a xmlns="u" xmlns:x="v" x:b="&lt;&#65;\n">t<![CDATA[<]]><x:c/>u</a><!--d-->',
      { comments: true },
    );
    assert.deepEqual(before, [
      { kind: 'comment', text: ' c ' },
      { kind: 'instruction', target: 'p', text: 'i' },
    ]);
    assert.deepEqual(after, [{ kind: 'comment', text: 'd' }]);
    assert.equal(root.uri, 'u');
    assert.deepEqual(
      root.attributes.map(({ name, uri, value }) => [name, uri, value]),
      [
        ['xmlns', 'http://www.w3.org/2000/xmlns/', 'u'],
        ['xmlns:x', 'http://www.w3.org/2000/xmlns/', 'v'],
        ['x:b', 'v', '<A '],
      ],
    );
    assert.deepEqual(root.children, [
      { kind: 'text', text: 't', cdata: false },
      { kind: 'text', text: '<', cdata: true },
      { kind: 'element', name: 'x:c', prefix: 'x', local: 'c', uri: 'v', attributes: [], children: [] },
      { kind: 'text', text: 'u', cdata: false },
    ]);
  });

  it('has no comments unless they are asked for, and one text around them', () => {
    const { root } = parseXml('<a>x<!-- c -->y</a>');
    assert.deepEqual(root.children, [{ kind: 'text', text: 'xy', cdata: false }]);
  });

  it('is written as it was', () => {
    const text =
      '<?xml version="1.0" encoding="UTF-8"?><!--c--><?p i?><a b="&lt;&quot;&#10;&amp;">&lt;é<![CDATA[<&]]><b/></a>';
    assert.equal(xmlText(parseXml(text, { comments: true })), text);
  });
});

describe('limits', () => {
  const beyond: readonly (readonly [text: string, limits: object])[] = [
    ['<a><b><c/></b></a>', { maxDepth: 2 }],
    ['<a b="1" c="2"/>', { maxAttributes: 1 }],
    ['<abcd/>', { maxNameLength: 3 }],
    ['<a abcd=""/>', { maxNameLength: 3 }],
    ['<a><b/><b/></a>', { maxNodes: 2 }],
    ['<a>x<b/>y</a>', { maxNodes: 3 }],
    ['<a>'.repeat(100_000), {}],
  ];
  for (const [text, limits] of beyond) {
    it(`${JSON.stringify(limits)}: ${text.slice(0, 20)}`, () => {
      const error = failure(text, { limits });
      assert.ok(error instanceof XmlLimitError, String(error));
      assert.match(error.message, /line 1, column/);
      assert.equal(bodyFault(error), 'limit');
    });
  }
});

describe('encodings', () => {
  const declared = (name: string) => `<?xml version="1.0" encoding="${name}"?>`;
  const utf16 = (text: string, big: boolean) => {
    const bytes = Buffer.from(`\ufeff${text}`, 'utf16le');
    return big ? bytes.swap16() : bytes;
  };
  const read: readonly (readonly [what: string, bytes: Uint8Array, contentType: string | null])[] = [
    ['UTF-8', Buffer.from('<a>é</a>'), null],
    ['UTF-8 with a mark', Buffer.from('\ufeff<a>é</a>'), 'text/xml; charset="UTF-8"'],
    ['UTF-16, little end first', utf16('<a>é</a>', false), null],
    ['UTF-16, big end first', utf16(`${declared('utf-16')}<a>é</a>`, true), 'application/xml; charset=utf-16'],
    ['ISO-8859-1 as declared', Buffer.from(`${declared('ISO-8859-1')}<a>é</a>`, 'latin1'), 'text/xml'],
    ['ISO-8859-1 by the charset', Buffer.from('<a>é</a>', 'latin1'), 'text/xml; charset=iso-8859-1'],
    ['the charset before the declaration', Buffer.from(`${declared('utf-16')}<a>é</a>`), 'text/xml; charset=utf-8'],
    ['US-ASCII', Buffer.from(`${declared('us-ascii')}<a>&#233;</a>`), null],
  ];
  for (const [what, bytes, contentType] of read) {
    it(`${what} is read`, () => {
      assert.deepEqual(parseXml(bytes, { contentType }).root.children, [{ kind: 'text', text: 'é', cdata: false }]);
    });
  }

  const unknown: readonly (readonly [what: string, bytes: Uint8Array, contentType: string | null])[] = [
    ['another charset', Buffer.from('<a/>'), 'text/xml; charset=utf-7'],
    ['another declared one', Buffer.from(`${declared('EBCDIC-CP-US')}<a/>`), null],
    ['UTF-16 without a mark', Buffer.from('<a/>', 'utf16le'), 'text/xml; charset=utf-16'],
    ['UTF-16 declared in bytes', Buffer.from(`${declared('UTF-16')}<a/>`), null],
    ['a mark that the declaration contradicts', Buffer.from(`\ufeff${declared('iso-8859-1')}<a/>`), 'text/xml'],
    ['a mark of UTF-16 that the declaration contradicts', utf16(`${declared('utf-8')}<a/>`, true), null],
    ['a mark that contradicts', Buffer.from('\ufeff<a/>'), 'text/xml; charset=iso-8859-1'],
  ];
  for (const [what, bytes, contentType] of unknown) {
    it(`${what} is refused`, () => {
      const error = failure(bytes, { contentType });
      assert.ok(error instanceof XmlEncodingError, String(error));
      assert.equal(bodyFault(error), 'encoding');
    });
  }

  it('bytes that are none of it are refused with their place', () => {
    assert.match(failure(Buffer.from('<a>\né\xff</a>', 'latin1')).message, /UTF-8 \(line 2, column 1\)/);
    assert.match(
      failure(Buffer.from('<a>é</a>', 'latin1'), { contentType: 'text/xml; charset=us-ascii' }).message,
      /column 4/,
    );
    assert.match(failure(Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x00])).message, /UTF-16/);
  });

  it('ISO-8859-1 is not windows-1252', () => {
    const bytes = Buffer.from('<a>\x80</a>', 'latin1');
    const { root } = parseXml(bytes, { contentType: 'text/xml; charset=iso-8859-1' });
    assert.deepEqual(root.children, [{ kind: 'text', text: '\x80', cdata: false }]);
  });
});
