import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLocalHost } from './local-host.ts';

const local = [
  '',
  'localhost',
  'localhost:8000',
  'LOCALHOST:8000',
  'api.localhost',
  '127.0.0.1:8000',
  '192.168.1.7',
  '[::1]:8000',
  'gateway',
  'api.example.com',
  'api.test:8000',
  'shop.local.',
];
const foreign = [
  'evil.com',
  'evil.com:8000',
  'localhost.evil.com',
  'example.com.evil.net',
  'myexample.com',
  'a b',
  '1.2.3.4.evil.com',
];

for (const host of local) test(`'${host}' is a local host`, () => assert.equal(isLocalHost(host), true));
for (const host of foreign) test(`'${host}' is no local host`, () => assert.equal(isLocalHost(host), false));
