import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bodyArguments, hasBodyArguments, withoutBodyArguments } from './body-arguments.ts';

const form = 'application/x-www-form-urlencoded';
const json = 'application/json';
const multipart = 'multipart/form-data; boundary=XX';

function read(type: string | null, body: string): Record<string, readonly string[]> | null {
  const found = bodyArguments(type, Buffer.from(body));
  return found === null ? null : Object.fromEntries(found);
}

function part(name: string, value: string, more = ''): string {
  return `--XX\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
}

describe('arguments of a form', () => {
  it('are decoded, in order', () => {
    assert.deepEqual(read(`${form}; charset=utf-8`, 'a=1&b=x+y%2B&a=2&c&=z&d=%zz'), {
      a: ['1', '2'],
      b: ['x y+'],
      c: [''],
      '': ['z'],
      d: ['%zz'],
    });
  });
  it('are read of any spelling of the type, and of no other', () => {
    assert.deepEqual(read('APPLICATION/X-WWW-Form-Urlencoded', 'a=1'), { a: ['1'] });
    assert.equal(read('application/x-www-form-urlencodedx', 'a=1'), null);
    assert.equal(read('text/plain', 'a=1'), null);
    assert.equal(read(null, 'a=1'), null);
    assert.equal(hasBodyArguments('text/plain; application/json'), false);
  });
  it('are at most 1000', () => {
    assert.equal(bodyArguments(form, Buffer.from(Array(1000).fill('a=1').join('&')))?.get('a')?.length, 1000);
    assert.equal(read(form, Array(1001).fill('a=1').join('&')), null);
  });
});

describe('arguments of JSON', () => {
  it('are its texts, numbers and booleans', () => {
    const body =
      '{ "a" : "x\\u00e9\\"}" , "n": -12345678901234567890 ,"b":true,"o":{"a":["}"]},"l":[1],"z":null,"é":"ü"}';
    assert.deepEqual(read(json, body), { a: ['xé"}'], n: ['-12345678901234567890'], b: ['true'], é: ['ü'] });
  });
  it('show a name that occurs twice, however it is spelled', () => {
    assert.deepEqual(read(json, '{"key":"1","k\\u0065y":"2"}'), { key: ['1', '2'] });
  });
  it('cannot reach a prototype', () => {
    assert.deepEqual([...(bodyArguments(json, Buffer.from('{"__proto__":"x"}')) ?? [])], [['__proto__', ['x']]]);
  });
  it('are none when it is malformed or no object', () => {
    for (const body of ['', '{', '{"a":1,}', '{"a":"\\x"}', '\ufeff{}']) assert.equal(read(json, body), null, body);
    for (const body of ['[]', '"a"', 'null', '[{"a":1}]']) assert.deepEqual(read(json, body), {}, body);
    assert.equal(bodyArguments(json, Buffer.from('{"a":"\xff"}', 'latin1')), null);
    assert.deepEqual(read(json, ' { } '), {});
  });
  it('are found next to a deeply nested value, up to 1000 levels', () => {
    const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
    assert.deepEqual(read(json, `{"deep":${deep(999)},"key":"k"}`), { key: ['k'] });
    assert.equal(read(json, `{"deep":${deep(100_000)},"key":"k"}`), null);
  });
  it('are at most 1000', () => {
    const members = (count: number): string => `{${Array.from({ length: count }, (_, at) => `"a${at}":1`).join(',')}}`;
    assert.deepEqual(read(json, members(1000))?.['a999'], ['1']);
    assert.equal(read(json, members(1001)), null);
  });
});

describe('arguments of a multipart form', () => {
  it('are its fields without the files', () => {
    const body = `${part('a', '1\r\n2')}${part('f', 'bytes', '; filename="x"')}${part('a', '')}--XX--\r\n`;
    assert.deepEqual(read(multipart, body), { a: ['1\r\n2', ''] });
    assert.deepEqual(read('Multipart/Form-Data; charset=x; boundary="XX"', body), { a: ['1\r\n2', ''] });
  });
  it('are none when it is malformed', () => {
    const good = part('a', '1');
    const bodies = [
      '',
      good,
      `preamble\r\n${good}--XX--`,
      `${good}--XX--more`,
      `${good.replace('form-data', 'attachment')}--XX--`,
      `${good.replace('; name="a"', '')}--XX--`,
      `${part('a', '1', '; name="b"')}--XX--`,
      `${good.replaceAll('\r\n', '\n')}--XX--`,
      `${good.replace('\r\n\r\n', '\r\nContent-Disposition: form-data; name="b"\r\n\r\n')}--XX--`,
      '--XX\r\n\r\n1\r\n--XX--',
      `${good}--XXX\r\n\r\n--XX--`,
    ];
    for (const body of bodies) assert.equal(read(multipart, body), null, JSON.stringify(body));
    for (const type of ['multipart/form-data', `${multipart}; boundary=YY`, 'multipart/form-data; boundary=']) {
      assert.equal(read(type, `${good}--XX--`), null, type);
    }
  });
});

describe('a body without some arguments', () => {
  const without = (type: string, body: string) =>
    Buffer.from(withoutBodyArguments(type, Buffer.from(body), new Set(['key', 'k2'])) ?? 'unreadable').toString();

  it('keeps every other byte of a form', () => {
    assert.equal(without(form, 'a=%41+b&key=1&&c&k%65y=2&d=%zz&k2'), 'a=%41+b&&c&d=%zz');
    assert.equal(without(form, 'key=1'), '');
  });
  it('keeps the other members of JSON as they were written', () => {
    assert.equal(
      without(json, '{ "n": 12345678901234567890, "key":"1", "o" : { "key" : 1.0 },"k\\u0065y":[{}] }'),
      '{"n": 12345678901234567890,"o" : { "key" : 1.0 }}',
    );
    assert.equal(without(json, '{"key":"1"}'), '{}');
  });
  it('keeps the other parts of a multipart form', () => {
    const file = part('f', '\x00\xff', '; filename="x"');
    assert.equal(
      without(multipart, `${part('key', '1')}${file}${part('k2', '2', '; filename="k"')}--XX--\r\n`),
      `${file}--XX--\r\n`,
    );
    assert.equal(without(multipart, `${part('key', '1')}--XX--`), '--XX--');
  });
  it('is the same object when there is nothing to remove', () => {
    const body = Buffer.from('a=1');
    assert.equal(withoutBodyArguments(form, body, new Set(['key'])), body);
    assert.equal(withoutBodyArguments('text/plain', body, new Set(['a'])), body);
  });
  it('is null when the body is malformed and could have them', () => {
    const part = '--XX\r\nContent-Disposition: form-data; name="key"\r\n\r\n1\r\n--XX--';
    for (const [type, body] of [
      [json, '{"key":"1"'],
      [json, '{"key":"1"}x'],
      [json, "{'key':'1'}"],
      [json, '\ufeff{"key":"1"}'],
      [json, '{"key":"1",}'],
      [json, `{"key":"1","a":${'['.repeat(1000)}${']'.repeat(1000)}}`],
      [form, `key=1${'&a'.repeat(1000)}`],
      [form, `${'&'.repeat(1000)}key=1`],
      [multipart, `preamble\r\n${part}`],
      ['multipart/form-data', part],
      ['multipart/form-data; boundary="X\\X"', part],
    ] as const) {
      assert.equal(without(type, body), 'unreadable', `${type} ${body.slice(0, 50)}`);
    }
    assert.equal(without(json, ''), '');
    assert.equal(without(json, '[{"key":"1"}]'), '[{"key":"1"}]');
  });
  it('agrees with what is read when only some names are looked for', () => {
    for (const [type, body] of [
      [form, 'a=1&k%65y=%41&%6b2=x&+=1&key'],
      [json, '{"a":"1","k\\u0065y":"A","k2":[1],"key":true}'],
    ] as const) {
      const all = bodyArguments(type, Buffer.from(body));
      const some = bodyArguments(type, Buffer.from(body), new Set(['key', 'k2']));
      const expected = [...(all ?? [])].filter(([name]) => name === 'key' || name === 'k2');
      assert.deepEqual([...(some ?? [])], expected);
    }
  });
});
