import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostHeader } from './host-header.ts';

test('the Host header has a port unless it is the one of the protocol', () => {
  assert.equal(hostHeader('http', 'a.test', 80), 'a.test');
  assert.equal(hostHeader('grpc', 'a.test', 80), 'a.test');
  assert.equal(hostHeader('http', 'a.test', 443), 'a.test:443');
  assert.equal(hostHeader('https', 'a.test', 443), 'a.test');
  assert.equal(hostHeader('https', 'a.test', 80), 'a.test:80');
  assert.equal(hostHeader('http', '10.0.0.1', 8080), '10.0.0.1:8080');
});

test('the Host header has IPv6 addresses in brackets, and keeps a port in the name', () => {
  assert.equal(hostHeader('http', '::1', 80), '[::1]');
  assert.equal(hostHeader('http', '[2001:db8::1]', 8080), '[2001:db8::1]:8080');
  assert.equal(hostHeader('http', 'a.test:9000', 8080), 'a.test:9000');
});
