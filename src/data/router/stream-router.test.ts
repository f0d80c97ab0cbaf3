import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type RoutableStream, type StreamAddress, type StreamQuery, StreamRouter } from './stream-router.ts';

type Fields = Partial<Omit<RoutableStream, 'id'>>;

function route(id: string, fields: Fields): RoutableStream {
  return { id, protocols: ['tcp'], sources: null, destinations: null, snis: null, ...fields };
}

function at(ip: string | null, port: number | null = null): StreamAddress {
  return { ip, port };
}

const query: StreamQuery = {
  transport: 'tcp',
  sourceIp: '10.1.2.3',
  sourcePort: 40_000,
  destinationIp: '127.0.0.1',
  destinationPort: 5432,
  sni: '',
};

/** The id of the route that wins, or null. */
function winner(routes: Readonly<Record<string, Fields>>, differs: Partial<StreamQuery> = {}): string | null {
  const entries = Object.entries(routes);
  const winners = [entries, entries.toReversed()].map((inOrder) => {
    const router = new StreamRouter();
    for (const [id, fields] of inOrder) router.upsert(route(id, fields));
    return router.match({ ...query, ...differs })?.id ?? null;
  });
  assert.equal(winners[0], winners[1], 'the order in which routes come does not matter');
  return winners[0] ?? null;
}

describe('a stream route matches', () => {
  const cases: readonly (readonly [string, Fields, Partial<StreamQuery>, boolean])[] = [
    ['by the port it comes to', { destinations: [at(null, 5432)] }, {}, true],
    ['not by another port', { destinations: [at(null, 5433)] }, {}, false],
    ['by one of several', { destinations: [at(null, 1), at(null, 5432)] }, {}, true],
    ['by address and port together', { destinations: [at('127.0.0.1', 5433)] }, {}, false],
    ['by the address it comes from', { sources: [at('10.1.2.3')] }, {}, true],
    ['by the range it comes from', { sources: [at('10.0.0.0/8')] }, {}, true],
    ['not from outside of the range', { sources: [at('10.0.0.0/8')] }, { sourceIp: '11.0.0.1' }, false],
    ['not from another family', { sources: [at('0.0.0.0/0')] }, { sourceIp: '::1' }, false],
    ['by a mapped address', { sources: [at('::ffff:10.1.2.3')] }, { sourceIp: '10.1.2.3' }, true],
    ['by a mapped range', { sources: [at('::ffff:10.0.0.0/104')] }, { sourceIp: '10.1.2.3' }, true],
    ['by an IPv6 address in any spelling', { sources: [at('2001:DB8:0::1')] }, { sourceIp: '2001:db8::1' }, true],
    ['by an IPv6 range', { sources: [at('2001:db8::/32', 40_000)] }, { sourceIp: '2001:db8::1' }, true],
    ['only if sources and destinations do', { sources: [at('10.1.2.3')], destinations: [at(null, 1)] }, {}, false],
    ['TLS, by name', { protocols: ['tls'], snis: ['a.test'] }, { transport: 'tls', sni: 'a.test' }, true],
    [
      'TLS, by a name in capitals',
      { protocols: ['tls'], snis: ['A.test.'] },
      { transport: 'tls', sni: 'a.test' },
      true,
    ],
    ['TLS, by a wildcard', { protocols: ['tls'], snis: ['*.test'] }, { transport: 'tls', sni: 'a.b.test' }, true],
    ['TLS, by a wildcard at the end', { protocols: ['tls'], snis: ['a.*'] }, { transport: 'tls', sni: 'a.test' }, true],
    ['not TLS of another name', { protocols: ['tls'], snis: ['a.test'] }, { transport: 'tls', sni: 'b.test' }, false],
    ['not TLS without a name', { protocols: ['tls'], snis: ['a.test'] }, { transport: 'tls' }, false],
    [
      'passed TLS, by name',
      { protocols: ['tls_passthrough'], snis: ['a.test'] },
      { transport: 'tls', sni: 'a.test' },
      true,
    ],
    ['TLS where it takes tcp', { destinations: [at(null, 5432)] }, { transport: 'tls', sni: 'x' }, true],
    ['no plain stream where it expects TLS', { protocols: ['tls'], destinations: [at(null, 5432)] }, {}, false],
    ['no plain stream by names alone', { protocols: ['tcp', 'tls'], snis: ['a.test'] }, {}, false],
    [
      'a plain stream by its other attributes',
      { protocols: ['tcp', 'tls'], snis: ['a.test'], destinations: [at(null, 5432)] },
      {},
      true,
    ],
    ['no datagrams where it wants a stream', { destinations: [at(null, 5432)] }, { transport: 'udp' }, false],
    ['datagrams', { protocols: ['udp'], destinations: [at(null, 5432)] }, { transport: 'udp' }, true],
    [
      'no TLS where it expects datagrams',
      { protocols: ['udp'], destinations: [at(null, 5432)] },
      { transport: 'tls' },
      false,
    ],
  ];
  for (const [name, fields, differs, matches] of cases) {
    it(name, () => assert.equal(winner({ only: fields }, differs), matches ? 'only' : null));
  }
});

describe('of several stream routes', () => {
  const tls = { transport: 'tls', sni: 'a.test' } as const;
  it('one with a server name outranks one with addresses', () => {
    const routes = { a: { protocols: ['tls'], snis: ['a.test'] }, b: { sources: [at('10.1.2.3', 40_000)] } } as const;
    assert.equal(winner(routes, tls), 'a');
  });

  it('one with sources and destinations ranks equal to one with a server name, and higher by their bits', () => {
    const both = { sources: [at('10.0.0.0/8')], destinations: [at('127.0.0.0/8')] };
    assert.equal(winner({ a: { protocols: ['tls'], snis: ['a.test'] }, b: both }, tls), 'b');
    assert.equal(winner({ a: { sources: [at('10.1.2.3', 40_000)] }, b: both }), 'b');
  });

  it('sources count before destinations', () => {
    assert.equal(winner({ a: { sources: [at('10.0.0.0/8')] }, b: { destinations: [at('127.0.0.1', 5432)] } }), 'a');
  });

  it('an address counts before a port, and a port before a range', () => {
    const [ip, port, range] = [at('10.1.2.3'), at(null, 40_000), at('10.0.0.0/8')];
    assert.equal(winner({ a: { sources: [ip] }, b: { sources: [port] }, c: { sources: [range] } }), 'a');
    assert.equal(winner({ b: { sources: [port] }, c: { sources: [range] } }), 'b');
  });

  it('the greater id wins a tie, also between names and wildcards', () => {
    assert.equal(winner({ a: { destinations: [at(null, 5432)] }, b: { destinations: [at(null, 5432)] } }), 'b');
    const named = { protocols: ['tls'], snis: ['a.test'] } as const;
    const wild = { protocols: ['tls'], snis: ['*.test'] } as const;
    assert.equal(winner({ a: named, b: wild }, tls), 'b');
    assert.equal(winner({ b: named, a: wild }, tls), 'b');
  });
});

describe('the router of streams', () => {
  it('follows changes and removals, also of names', () => {
    const router = new StreamRouter();
    const tls = { ...query, transport: 'tls', sni: 'a.test' } as const;
    router.upsert(route('a', { protocols: ['tls'], snis: ['a.test', 'b.test'] }));
    router.upsert(route('b', { destinations: [at(null, 5432)] }));
    assert.equal(router.match(tls)?.id, 'a');
    router.upsert(route('a', { protocols: ['tls'], snis: ['b.test'] }));
    assert.equal(router.match(tls)?.id, 'b');
    assert.equal(router.match({ ...tls, sni: 'b.test' })?.id, 'a');
    router.remove('b');
    assert.equal(router.match(tls), null);
    router.remove('a');
    router.remove('a');
    assert.equal(router.match({ ...tls, sni: 'b.test' }), null);
    assert.equal(router.size, 0);
  });

  it('keeps a route when its replacement cannot be compiled', () => {
    const router = new StreamRouter();
    router.upsert(route('a', { destinations: [at(null, 5432)] }));
    assert.throws(() => router.upsert(route('a', { sources: [at('10.0.0.0/99')] })));
    assert.equal(router.match(query)?.id, 'a');
  });
});
