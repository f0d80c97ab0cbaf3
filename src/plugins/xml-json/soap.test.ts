import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import xmlJson from './index.ts';

type Config = Readonly<Record<string, unknown>>;

const soap11 = 'http://schemas.xmlsoap.org/soap/envelope/';
const soap12 = 'http://www.w3.org/2003/05/soap-envelope';
const declaration = '<?xml version="1.0" encoding="UTF-8"?>';

function plugin(t: TestContext, config: Config) {
  const test = testPlugin(xmlJson, { config });
  t.after(() => test.dispose());
  return test;
}

function envelope(uri: string, body: string, header = ''): string {
  return `<s:Envelope xmlns:s="${uri}">${header}<s:Body>${body}</s:Body></s:Envelope>`;
}

describe('JSON clients of a SOAP backend', () => {
  const mapping = { root: 'GetUser', namespaces: { '': 'urn:users' }, strip_namespaces: true, keep_root: false };
  const call = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"id":7}' };

  it('have requests sent as SOAP 1.1 envelopes', async (t) => {
    const soap = {
      version: '1.1',
      action: 'urn:users#Get',
      header: '<k:key xmlns:k="urn:k" soap:mustUnderstand="1">s</k:key>',
    };
    const { upstream } = await plugin(t, { backend: 'xml', mapping, soap }).request(call);
    assert.equal(
      upstream?.body,
      `${declaration}<soap:Envelope xmlns:soap="${soap11}"><soap:Header><k:key xmlns:k="urn:k" soap:mustUnderstand="1">s</k:key></soap:Header>` +
        '<soap:Body><GetUser xmlns="urn:users"><id>7</id></GetUser></soap:Body></soap:Envelope>',
    );
    assert.equal(upstream?.header('content-type'), 'text/xml; charset=utf-8');
    assert.equal(upstream?.header('soapaction'), '"urn:users#Get"');
    assert.equal(upstream?.header('accept'), 'text/xml');
  });

  it('have requests sent as SOAP 1.2 envelopes', async (t) => {
    const soap = { version: '1.2', action: 'urn:users#Get' };
    const { upstream } = await plugin(t, { backend: 'xml', mapping, soap }).request(call);
    assert.match(upstream?.body ?? '', new RegExp(`<soap:Envelope xmlns:soap="${soap12}"><soap:Body><GetUser`));
    assert.equal(upstream?.header('content-type'), 'application/soap+xml; charset=utf-8; action="urn:users#Get"');
    assert.equal(upstream?.header('soapaction'), null);
  });

  const answers: readonly (readonly [what: string, body: string, json: string, more?: Config])[] = [
    ['one element', '<r xmlns="urn:users"><name>Ada</name></r>', '{"name":"Ada"}'],
    ['its name kept', '<r xmlns="urn:users"><name>Ada</name></r>', '{"r":{"name":"Ada"}}', { keep_root: true }],
    ['several elements', '<a>1</a><b/><a>2</a>', '{"a":["1","2"],"b":null}'],
    ['nothing', '', 'null'],
  ];
  for (const [what, body, json, more] of answers) {
    it(`get the content of the body: ${what}`, async (t) => {
      const test = plugin(t, {
        backend: 'xml',
        client: 'json',
        mapping: { ...mapping, ...more },
        soap: { version: '1.1' },
      });
      for (const uri of [soap11, soap12]) {
        const text = envelope(uri, body, '<s:Header><x s:mustUnderstand="1"/></s:Header>');
        const { response } = await test.request({
          backend: { headers: { 'Content-Type': 'application/soap+xml' }, body: text },
        });
        assert.equal(response.status, 200);
        assert.equal(response.body, json);
      }
    });
  }

  const fault11 = (code: string) =>
    envelope(
      soap11,
      `<s:Fault><faultcode>s:${code}</faultcode><faultstring>No such user</faultstring><detail><id>7</id></detail></s:Fault>`,
    );
  const fault12 = (code: string, subcode = '') =>
    envelope(
      soap12,
      `<s:Fault><s:Code><s:Value>s:${code}</s:Value>${subcode}</s:Code><s:Reason><s:Text xml:lang="en">No such user</s:Text>` +
        '</s:Reason><s:Detail><id>7</id></s:Detail></s:Fault>',
    );
  const notFound = '<s:Subcode><s:Value>m:NotFound</s:Value></s:Subcode>';
  const faults: readonly (readonly [xml: string, status: number, code: string, subcode?: string])[] = [
    [fault11('Client'), 400, 'Sender'],
    [fault11('Client.NotFound'), 404, 'Sender', 'NotFound'],
    [fault11('Server'), 503, 'Receiver'],
    [fault11('MustUnderstand'), 502, 'MustUnderstand'],
    [fault12('Sender'), 400, 'Sender'],
    [fault12('Sender', notFound), 404, 'Sender', 'NotFound'],
    [fault12('Receiver'), 503, 'Receiver'],
    [fault12('VersionMismatch'), 502, 'VersionMismatch'],
  ];
  for (const [xml, status, code, subcode] of faults) {
    it(`get ${status} for a fault: ${code} ${subcode ?? ''}`, async (t) => {
      const soap = { version: '1.1', fault_statuses: { NotFound: 404, Receiver: 503 } };
      const { response } = await plugin(t, { backend: 'xml', client: 'json', mapping, soap }).request({
        backend: { status: 500, headers: { 'Content-Type': 'text/xml' }, body: xml },
      });
      assert.equal(response.status, status);
      assert.equal(response.header('content-type'), 'application/json');
      assert.deepEqual(JSON.parse(response.body), {
        message: 'No such user',
        code,
        ...(subcode === undefined ? {} : { subcode }),
        detail: { id: '7' },
      });
    });
  }

  it('get 502 for an answer that is not an envelope', async (t) => {
    const test = plugin(t, { backend: 'xml', client: 'json', soap: { version: '1.1' } });
    for (const body of [
      '<a/>',
      '<s:Envelope xmlns:s="urn:other"><s:Body/></s:Envelope>',
      `<s:Envelope xmlns:s="${soap11}"/>`,
    ]) {
      const { response } = await test.request({ backend: { headers: { 'Content-Type': 'text/xml' }, body } });
      assert.equal(response.status, 502, body);
    }
  });
});

describe('SOAP clients of a JSON backend', () => {
  const config = { backend: 'json', client: 'xml', mapping: { keep_root: false, root: 'Answer' } };

  it('have their envelopes unwrapped, and answers wrapped', async (t) => {
    const { upstream, response } = await plugin(t, { ...config, soap: { version: '1.2' } }).request({
      method: 'POST',
      headers: { 'Content-Type': 'application/soap+xml' },
      body: envelope(soap12, '<Get><id>7</id></Get>'),
      backend: { headers: { 'Content-Type': 'application/json' }, body: '{"name":"Ada"}' },
    });
    assert.equal(upstream?.body, '{"id":"7"}');
    assert.equal(response.header('content-type'), 'application/soap+xml; charset=utf-8');
    assert.equal(
      response.body,
      `${declaration}<soap:Envelope xmlns:soap="${soap12}"><soap:Body><Answer><name>Ada</name></Answer></soap:Body></soap:Envelope>`,
    );
  });

  const failures: readonly (readonly [version: string, status: number, answered: number, text: string])[] = [
    ['1.1', 404, 500, '<faultcode>soap:Client</faultcode><faultstring>no such user</faultstring>'],
    ['1.1', 503, 500, '<faultcode>soap:Server</faultcode>'],
    ['1.2', 404, 400, '<soap:Code><soap:Value>soap:Sender</soap:Value></soap:Code>'],
    ['1.2', 503, 500, '<soap:Text xml:lang="en">no such user</soap:Text>'],
  ];
  for (const [version, status, answered, text] of failures) {
    it(`get a SOAP ${version} fault for ${status}`, async (t) => {
      const { response } = await plugin(t, { ...config, soap: { version } }).request({
        backend: { status, headers: { 'Content-Type': 'application/json' }, body: '{"message":"no such user"}' },
      });
      assert.equal(response.status, answered);
      assert.ok(response.body.includes(text), response.body);
      assert.ok(response.body.includes('<error><message>no such user</message></error>'), response.body);
    });
  }

  it('get 400 for mustUnderstand headers, missing envelopes and faults', async (t) => {
    const test = plugin(t, { ...config, soap: { version: '1.1' } });
    const request = (body: string) => ({ method: 'POST', headers: { 'Content-Type': 'text/xml' }, body });
    const header = '<s:Header><x s:mustUnderstand="1"/></s:Header>';
    assert.equal((await test.request(request(envelope(soap11, '<a/>', header)))).response.status, 400);
    assert.equal((await test.request(request('<a/>'))).response.status, 400);
    const fault = envelope(soap11, '<s:Fault><faultcode>s:Client</faultcode></s:Fault>');
    assert.equal((await test.request(request(fault))).response.status, 400);
  });
});
