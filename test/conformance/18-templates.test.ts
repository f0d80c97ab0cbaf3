import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exchangeOne } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 18 through templates: a request value starts no new line and stays within the field that a transformer puts it in. */
const payloads: Readonly<Record<string, string>> = {
  'CRLF and a header': '%0d%0aX-Injected:%20yes',
  'LF and a header': '%0aX-Injected:%20yes',
  'CR and a header': '%0dX-Injected:%20yes',
  'a second request': '%20HTTP/1.1%0d%0aHost:%20a%0d%0a%0d%0aGET%20/injected',
  'a control byte': '%01%1f%7f',
  'a character that becomes CR LF when cut to a byte': '%c4%8d%c4%8aX-Injected:%20yes',
  'a query and a fragment': 'x%3Finjected=1%26injected=1%23injected',
  'a parent': '../injected',
  'an encoded parent': '%2e%2e%2finjected',
  'a parent for servers of another kind': '..%5cinjected',
  'another expression': '%24(headers.authorization)',
  'another field': 'x%22,%22injected%22:%22yes',
};

const places: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  header: { add: { headers: ['X-Value:$(query_params.v)'] } },
  host: { replace: { headers: ['Host:$(query_params.v)'] } },
  query: { add: { querystring: ['value:$(query_params.v)'] }, remove: { querystring: ['v'] } },
  path: { replace: { uri: '/fixed/$(query_params.v)' }, remove: { querystring: ['v'] } },
  'loose-path': { replace: { uri: '/fixed/$(path(query_params.v))' }, remove: { querystring: ['v'] } },
  json: { add: { body: ['value:$(query_params.v)'] }, remove: { querystring: ['v'] } },
  form: { add: { body: ['value:$(query_params.v)'] }, remove: { querystring: ['v'] } },
};

const bodies: Readonly<Record<string, string>> = {
  json: 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
  form: 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\nk=1',
};

describe('values that templates put into requests and answers', { concurrency: 8 }, () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig();
    for (const [place, config] of Object.entries(places)) {
      await rig.write('PUT', `/services/backend/routes/${place}`, { paths: [`/${place}`] });
      await rig.write('POST', `/routes/${place}/plugins`, { name: 'request-transformer', config });
    }
    await rig.write('PUT', '/services/backend/routes/answer', { paths: ['/answer'] });
    await rig.write('POST', '/routes/answer/plugins', {
      name: 'response-transformer',
      config: { add: { headers: ['X-Value:$(query_params.v)'] }, append: { headers: ['X-Value:$(query_params.v)'] } },
    });
    await rig.write('PUT', '/routes/redirect', { paths: ['/redirect'] });
    await rig.write('POST', '/routes/redirect/plugins', {
      name: 'redirect',
      config: { location: 'https://example.com', keep_incoming_path: true },
    });
  });
  after(() => rig.close());

  for (const [what, payload] of Object.entries(payloads)) {
    for (const place of Object.keys(places)) {
      it(`stay one value: ${what}, in a ${place}`, async () => {
        const marker = `m${Math.random().toString(36).slice(2)}`;
        const head = `Host: a\r\nAuthorization: secret-${marker}\r\nX-Marker: ${marker}\r\n`;
        const rest = bodies[place] ?? 'Content-Length: 0\r\n\r\n';
        const { status } = await exchangeOne(rig.port, `POST /${place}?v=${payload} HTTP/1.1\r\n${head}${rest}`);
        const seen = rig.backend.requests.filter((request) => request.get('x-marker') === marker);
        assert.deepEqual([status, seen.length], status === 400 ? [400, 0] : [200, 1]);
        const [request] = seen;
        if (request === undefined) return;
        assert.equal(request.get('x-injected'), undefined);
        assert.equal(request.all('host').length, 1);
        if (place.endsWith('path')) assert.match(request.target, /^\/fixed\/[^?#]*$/);
        if (place === 'path') assert.doesNotMatch(request.target, /^\/fixed\/.*\//);
        if (place === 'query') assert.match(request.target, /^\/\?value=[^&#]*$/);
        if (place === 'json') assert.deepEqual(Object.keys(JSON.parse(request.body)), ['value']);
        if (place === 'form') assert.match(request.body, /^k=1&value=[^&]*$/);
        assert.doesNotMatch(request.target + request.body + (request.get('x-value') ?? ''), /secret/);
      });
    }

    it(`stay one value: ${what}, in an answer`, async () => {
      const answer = await exchangeOne(rig.port, `GET /answer?v=${payload} HTTP/1.1\r\nHost: a\r\n\r\n`);
      assert.equal(answer.status, 200);
      assert.equal(answer.get('x-injected'), undefined);
    });

    it(`stay one value: ${what}, in a redirect`, async () => {
      const answer = await exchangeOne(rig.port, `GET /redirect//${payload} HTTP/1.1\r\nHost: a\r\n\r\n`);
      assert.ok(answer.status === 301 || answer.status === 400 || answer.status === 404, `status ${answer.status}`);
      assert.equal(answer.get('x-injected'), undefined);
      if (answer.status === 301) assert.equal(new URL(answer.get('location') ?? '').host, 'example.com');
    });
  }

  it('cause no request in addition to those of the tests', () => {
    assert.ok(!rig.backend.requests.some((request) => request.target.startsWith('/injected')));
    assert.deepEqual(rig.backend.scriptErrors, []);
  });
});
