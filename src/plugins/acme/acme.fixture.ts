import { once } from 'node:events';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { startDnsServer } from '../../../test/support/dns-server.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../../../test/support/gateway.ts';
import {
  type PebbleIdentity,
  pebbleIdentity,
  startPebble,
  type TestPebble,
  type TestPebbleOptions,
} from '../../../test/support/pebble.ts';
import { selfSigned } from '../../../test/support/self-signed.ts';
import { testSettings } from '../../../test/support/settings.ts';

type Settings = NonNullable<TestGatewayOptions['settings']>;

export const own = selfSigned('gateway.test');

/** A gateway with a plain and a TLS listener that trusts the ACME server. */
export function acmeSettings(identity: PebbleIdentity, settings: Settings = {}): Settings {
  const { proxyListen } = testSettings({ prefix: identity.directory });
  const [plain] = proxyListen;
  if (plain === undefined) throw new Error('there is no listener');
  return {
    proxyListen: [plain, { ...plain, ssl: true, listener: '127.0.0.1:0 ssl' }],
    sslCert: [own.cert],
    sslCertKey: [own.key],
    trustedCertificates: identity.cert,
    ...settings,
  };
}

export interface AcmeRig extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly identity: PebbleIdentity;
  readonly pebble: TestPebble;
  /** Orders and accounts that the server has created since its start. */
  orders(): number;
  accounts(): number;
}

export interface AcmeRigOptions {
  readonly settings?: Settings;
  readonly pebble?: Partial<TestPebbleOptions>;
  /** Without it the plugin is not configured. */
  readonly config?: Readonly<Record<string, unknown>>;
}

/** A gateway, an ACME server that validates hosts there, and a DNS server that resolves all names below `acme.test` to it. */
export async function startAcmeRig(options: AcmeRigOptions = {}): Promise<AcmeRig> {
  await using starting = new AsyncDisposableStack();
  const dns = await startDnsServer({ records: ['address=/acme.test/127.0.0.1'] });
  starting.defer(() => dns.stop());
  const identity = pebbleIdentity();
  const gateway = await startTestGateway({ settings: acmeSettings(identity, options.settings) });
  starting.use(gateway);
  const { proxyPort: httpPort, proxyTlsPort: tlsPort } = gateway;
  const pebble = await startPebble({ identity, httpPort, tlsPort, dns: dns.address, ...options.pebble });
  starting.defer(() => pebble.stop());
  const rig = {
    gateway,
    identity,
    pebble,
    orders: () => count(pebble, 'Added order '),
    accounts: () => count(pebble, 'accounts in memory'),
  };
  if (options.config !== undefined) await configure(rig, options.config);
  const running = starting.move();
  return { ...rig, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

export async function configure(
  rig: Pick<AcmeRig, 'gateway' | 'pebble'>,
  config: Readonly<Record<string, unknown>>,
): Promise<void> {
  const answer = await rig.gateway.admin('POST', '/plugins', {
    name: 'acme',
    config: {
      account_email: 'ada@acme.test',
      api_uri: rig.pebble.directory,
      tos_accepted: true,
      cert_type: 'ecc',
      domains: ['*.acme.test'],
      ...config,
    },
  });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
}

function count(pebble: TestPebble, text: string): number {
  return pebble.lines.filter((line) => line.includes(text)).length;
}

export interface Handshake {
  readonly socket: TLSSocket;
  readonly certificate: PeerCertificate;
}

/** Makes a TLS handshake; rejects if it fails. The caller ends the socket. */
export async function openTls(port: number, servername: string, more: object = {}): Promise<Handshake> {
  const socket = connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false, ...more });
  await once(socket, 'secureConnect');
  return { socket, certificate: socket.getPeerCertificate() };
}

/** The certificate that the gateway shows for a name. */
export async function shownFor(gateway: TestGateway, servername: string): Promise<PeerCertificate> {
  const { socket, certificate } = await openTls(gateway.proxyTlsPort, servername);
  socket.destroy();
  return certificate;
}

export async function isIssued(gateway: TestGateway, servername: string): Promise<boolean> {
  return String((await shownFor(gateway, servername)).issuer.CN).startsWith('Pebble');
}
