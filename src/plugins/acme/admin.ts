import { randomBytes, X509Certificate } from 'node:crypto';
import type {
  PluginAdminAnswer,
  PluginAdminRoute,
  PluginAdminRoutes,
  PluginAdminTools,
} from '../../plugin-sdk/index.ts';
import type { AcmeMessage } from './background.ts';
import { isCertifiable, plainName } from './domains.ts';
import type { Outcome } from './issuer.ts';
import { failures, type ManagedCertificate, managedCertificates } from './records.ts';

/** Timeout of the request that tests a host, in milliseconds. */
const probeTimeout = 10_000;

export const adminRoutes: PluginAdminRoutes['adminRoutes'] = (tools): readonly PluginAdminRoute[] => [
  {
    path: '/acme',
    operations: {
      POST: {
        access: 'admin',
        summary: 'Orders a certificate for a host now, or tests whether the authority could validate the host.',
        status: 201,
        handle: ({ body }) => create(body, tools),
      },
      PATCH: {
        access: 'admin',
        summary: 'Checks all certificates now, and renews those that expire soon.',
        status: 202,
        handle: async () => {
          if ((await sendToBackground(tools, { type: 'renew' })) === null) return notEnabled;
          return answer(202, 'Renewal process started successfully');
        },
      },
    },
  },
  {
    path: '/acme/certificates',
    operations: {
      GET: {
        access: 'read',
        summary: 'Lists the managed certificates, and the hosts whose orders failed.',
        queryParameters: [{ name: 'invalid_only', description: '`true`: only expired certificates.' }],
        handle: async (request) => {
          const invalidOnly = request.query('invalid_only');
          const only = invalidOnly !== null && invalidOnly !== 'false' && invalidOnly !== '0';
          const data = (await managed(tools)).flatMap(shown).filter(({ valid }) => !only || !valid);
          const failed = (await failures((entity) => tools.all(entity))).map(({ host, reason, until }) => ({
            host,
            reason,
            retry_at: Math.ceil(until / 1000),
          }));
          return { status: 200, json: { data, failures: failed, next: null } };
        },
      },
    },
  },
  {
    path: '/acme/certificates/{host}',
    operations: {
      GET: {
        access: 'read',
        summary: 'Returns the certificate of a host.',
        handle: async ({ params }) => {
          const host = plainName(params['host'] ?? '');
          const found = (await managed(tools)).filter((certificate) => certificate.host === host).flatMap(shown)[0];
          if (found === undefined) return answer(404, `Certificate for host ${host} not found in storage`);
          return { status: 200, json: { data: found } };
        },
      },
    },
  },
];

const notEnabled = answer(400, 'the acme plugin is not enabled');

async function create(body: Readonly<Record<string, unknown>>, tools: PluginAdminTools): Promise<PluginAdminAnswer> {
  const { host: name, test_http_challenge_flow: probe } = body;
  if (typeof name !== 'string' || name === '') return answer(400, 'host must be provided');
  const host = plainName(name);
  if (!isCertifiable(host)) return answer(400, 'host is not a host name that a certificate can be had for');
  if (probe === true || probe === 'true') return testHost(host, tools);
  const outcome = (await sendToBackground(tools, { type: 'issue', host })) as
    | Outcome
    | { readonly kind: 'refused' }
    | null;
  if (outcome === null) return notEnabled;
  switch (outcome.kind) {
    case 'issued':
      return answer(201, `certificate for host ${host} is created`);
    case 'refused':
      return notAllowed(host);
    case 'taken':
      return answer(400, `host ${host} has a certificate that the acme plugin did not make`);
    case 'busy':
      return answer(409, `a certificate for host ${host} is being made`);
    default:
      return answer(500, `failed to create certificate for host ${host}: ${'reason' in outcome ? outcome.reason : ''}`);
  }
}

/** Tests a host as the authority does for `http-01`: requests a token from it. */
async function testHost(host: string, tools: PluginAdminTools): Promise<PluginAdminAnswer> {
  const [token, secret] = [randomBytes(16).toString('base64url'), randomBytes(16).toString('base64url')];
  const isShown = await sendToBackground(tools, { type: 'probe', host, token, answer: secret });
  if (isShown === null) return notEnabled;
  if (isShown === false) return notAllowed(host);
  try {
    const url = `http://${host}/.well-known/acme-challenge/${token}`;
    const { fetchDocument } = await import('../../plugin-kit/net/index.ts');
    const { status, body } = await fetchDocument(url, { timeout: probeTimeout, maxBytes: 1024 });
    if (status === 200 && body.toString() === secret) return answer(200, `sanity test for host ${host} passed`);
    return answer(
      400,
      `problem found running sanity check for ${host}: another server answered, with status ${status}`,
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    return answer(400, `problem found running sanity check for ${host}: ${reason}`);
  }
}

function managed(tools: PluginAdminTools): Promise<readonly ManagedCertificate[]> {
  return managedCertificates(
    (entity) => tools.all(entity),
    (id) => tools.find('certificates', id),
  );
}

function sendToBackground(tools: PluginAdminTools, message: AcmeMessage): Promise<unknown> {
  return tools.background(message);
}

function notAllowed(host: string): PluginAdminAnswer {
  return answer(400, `host ${host} is not allowed by config.domains`);
}

function answer(status: number, message: string): PluginAdminAnswer {
  return { status, json: { message } };
}

function shown({ host, row }: ManagedCertificate) {
  if (row === null) return [];
  const certificate = new X509Certificate(String(row['cert']));
  const { validFromDate: from, validToDate: to } = certificate;
  const now = Date.now();
  return [
    {
      host,
      digest: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
      issuer_cn: /^CN=(.*)$/m.exec(certificate.issuer ?? '')?.[1] ?? null,
      not_before: from.toISOString().slice(0, 19).replace('T', ' '),
      not_after: to.toISOString().slice(0, 19).replace('T', ' '),
      pubkey_type: certificate.publicKey.asymmetricKeyType === 'rsa' ? 'rsaEncryption' : 'id-ecPublicKey',
      serial_number: certificate.serialNumber.toLowerCase(),
      certificate: { id: row.id },
      valid: from.getTime() <= now && now < to.getTime(),
    },
  ];
}
