import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headerNames } from '../../plugin-sdk/header-names.ts';
import { HeaderEdits } from './header-edits.ts';

const block = 'Host: a.test\r\nX-One: 1\r\nx-one: 2\r\nAccept: */*\r\n';

test('without changes a block stays the same', () => {
  const edits = new HeaderEdits();
  assert.equal(edits.isEmpty, true);
  assert.equal(edits.applyTo(block), block);
  assert.equal(edits.applyTo(''), '');
});

test('set replaces every line of that name in any case, and an earlier addition', () => {
  const edits = new HeaderEdits();
  edits.add('X-One', '3');
  edits.set('X-ONE', '4');
  assert.equal(edits.applyTo(block), 'Host: a.test\r\nAccept: */*\r\nX-ONE: 4\r\n');
  assert.equal(edits.value(block, 'x-one'), '4');
  assert.deepEqual(edits.values(block, 'x-one'), ['4']);
});

test('add keeps what is there, in order', () => {
  const edits = new HeaderEdits();
  edits.add('X-One', '3');
  edits.add('X-One', '4');
  assert.equal(edits.value(block, 'x-one'), '1');
  assert.deepEqual(edits.values(block, 'x-one'), ['1', '2', '3', '4']);
  assert.equal(edits.applyTo(block), `${block}X-One: 3\r\nX-One: 4\r\n`);
});

test('remove drops the first, a middle and the last line', () => {
  for (const [name, left] of [
    ['host', 'X-One: 1\r\nx-one: 2\r\nAccept: */*\r\n'],
    ['X-One', 'Host: a.test\r\nAccept: */*\r\n'],
    ['ACCEPT', 'Host: a.test\r\nX-One: 1\r\nx-one: 2\r\n'],
  ] as const) {
    const edits = new HeaderEdits();
    edits.remove(name);
    assert.equal(edits.isEmpty, false);
    assert.equal(edits.applyTo(block), left);
    assert.equal(edits.value(block, name.toLowerCase()), null);
  }
});

test('an addition after a removal is kept', () => {
  const edits = new HeaderEdits();
  edits.remove('X-One');
  edits.add('X-One', '9');
  assert.deepEqual(edits.values(block, 'x-one'), ['9']);
  assert.equal(edits.applyTo('X-One: 1\r\n'), 'X-One: 9\r\n');
});

test('a name with the prefix or the length of another is unchanged', () => {
  const edits = new HeaderEdits();
  edits.remove('X-On');
  edits.remove('X-Two');
  assert.equal(edits.applyTo(block), block);
});

test('with folding, the same name with underscores is dropped too', () => {
  const edits = new HeaderEdits(true);
  edits.set('X-Consumer-ID', 'real');
  const spoofed = 'X_Consumer_ID: a\r\nx-consumer_id: b\r\nX-Consumer-ID: c\r\nX_Other: d\r\n';
  assert.equal(edits.applyTo(spoofed), 'X_Other: d\r\nX-Consumer-ID: real\r\n');
});

test('without folding, a name with underscores is a different name', () => {
  const edits = new HeaderEdits();
  edits.remove('X-One');
  assert.equal(edits.applyTo('X_One: 1\r\n'), 'X_One: 1\r\n');
});

for (const value of ['a\r\nb', 'a\nb', 'a\rb', 'a\0b', 'a\x01b', 'a\x7fb']) {
  test(`the value ${JSON.stringify(value)} is refused`, () => {
    const edits = new HeaderEdits();
    assert.throws(() => edits.set('X-One', value), /control character/);
    assert.throws(() => edits.add('X-One', value), /control character/);
    assert.equal(edits.isEmpty, true);
  });
}

for (const name of ['', 'a b', 'a:', 'a\r\nb', 'é', 'a\0', '(a)', 'a\n']) {
  test(`the name ${JSON.stringify(name)} is refused`, () => {
    const edits = new HeaderEdits();
    assert.throws(() => edits.set(name, '1'), /is not a header name/);
    assert.throws(() => edits.add(name, '1'), /is not a header name/);
    assert.throws(() => edits.remove(name), /is not a header name/);
  });
}

test('a tab is allowed in a value', () => {
  const edits = new HeaderEdits();
  edits.set('X-One', 'a\tb');
  assert.equal(edits.applyTo(''), 'X-One: a\tb\r\n');
});

test('bytes are unchanged; text beyond latin1 is sent as UTF-8', () => {
  const edits = new HeaderEdits();
  edits.set('X-Bytes', 'caf\xe9');
  edits.set('X-Text', 'Łódź');
  const bytes = Buffer.from(edits.applyTo(''), 'latin1');
  assert.deepEqual(
    bytes,
    Buffer.concat([Buffer.from('X-Bytes: caf'), Buffer.of(0xe9), Buffer.from('\r\nX-Text: Łódź\r\n')]),
  );
});

test('a line end hidden in a wide character is refused', () => {
  const edits = new HeaderEdits();
  edits.set('X-Text', 'a\u010d\u010ab');
  assert.doesNotMatch(edits.applyTo(''), /\r\n./);
});

test('setting a header that the block does not have replaces the value that a plugin set', () => {
  const edits = new HeaderEdits(true);
  edits.add('X_Trace', 'first');
  edits.add('Other', '1');
  edits.setAbsent('X-Trace', 'second');
  assert.equal(edits.applyTo('Host: a\r\n'), 'Host: a\r\nOther: 1\r\nX-Trace: second\r\n');
  assert.throws(() => edits.setAbsent('X-Trace', 'a\nb'), /control character/);
});

test('headers that are set together are the same as each set alone, before and after other changes', () => {
  const group = headerNames(['X-One', 'RateLimit-Limit', 'Accept']);
  const values = ['9', '\u00e4\t', 'ä😀'];
  const others: readonly ((edits: HeaderEdits) => void)[] = [
    () => {},
    (edits) => edits.set('X-One', 'later'),
    (edits) => edits.setAbsent('accept', 'later'),
    (edits) => edits.add('RateLimit-Limit', 'later'),
    (edits) => edits.remove('RateLimit-Limit'),
    (edits) => edits.setAll(headerNames(['accept', 'X-Two']), ['text/html', '2']),
    (edits) => edits.setAll(headerNames(['X-Two', 'x-two']), ['1', '2']),
  ];
  for (const before of others) {
    for (const after of others) {
      const [together, alone] = [new HeaderEdits(), new HeaderEdits()];
      for (const edits of [together, alone]) before(edits);
      together.setAll(group, values);
      for (const [at, name] of group.names.entries()) alone.set(name, values[at] ?? '');
      for (const edits of [together, alone]) after(edits);
      assert.equal(together.applyTo(block), alone.applyTo(block));
      assert.deepEqual([together.isEmpty, together.onlyAdds], [false, false]);
      assert.deepEqual(together.changesSince(null), alone.changesSince(null));
      for (const name of group.lower) assert.deepEqual(together.values(block, name), alone.values(block, name));
      assert.equal(together.copy().applyTo(block), alone.applyTo(block));
    }
  }
});

test('headers that are set together need a value that cannot end a line', () => {
  const edits = new HeaderEdits();
  const group = headerNames(['X-One', 'X-Two']);
  assert.throws(() => edits.setAll(group, ['1', 'a\r\nX-Three: 3']), /control character/);
  assert.equal(edits.applyTo(block), block);
});
