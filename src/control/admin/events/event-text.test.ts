import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventText } from './event-text.ts';

test('an event is one line of JSON, whatever its strings contain', () => {
  const text = eventText('second', { path: 'a\nevent: end\r\n\r\ndata: x\u2028' }, 7);
  assert.deepEqual(text.split('\n').slice(0, 2), ['event: second', 'id: 7']);
  const [, , data = ''] = text.split('\n');
  assert.deepEqual(JSON.parse(data.slice('data: '.length)), { path: 'a\nevent: end\r\n\r\ndata: x\u2028' });
  assert.match(text, /^[^\n\r]+\n[^\n\r]+\n[^\n\r]+\n\n$/);
  assert.equal(eventText('state', undefined), 'event: state\ndata: null\n\n');
});

test('a name that could begin another line is refused', () => {
  for (const name of ['', 'a\nb', 'a:b', 'A', ' a', '1']) assert.throws(() => eventText(name, {}), TypeError);
});
