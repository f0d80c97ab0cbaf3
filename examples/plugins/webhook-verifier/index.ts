import { signHmac, timestampProblem, verifyHmac } from 'sluicegate/plugin-kit/auth';
import { definePlugin, refuse } from 'sluicegate/plugin-sdk';

const zone = 'webhook-deliveries';

/** Accepts webhooks only with a valid signature over `<timestamp>.<body>`, each one once. */
export default definePlugin({
  name: 'webhook-verifier',
  version: '1.0.0',
  capabilities: [],
  // With the other authentication plugins.
  priority: 1029,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  needs: (config) => ({
    requestBody: { maxBytes: config.max_body },
    secrets: { headers: [config.signature_header] },
  }),
  zones: () => [{ name: zone, bytes: 4 * 1024 * 1024 }],
  setup({ secrets, prefix, tolerance, ...config }, tools) {
    const scheme = { algorithm: config.algorithm, encoding: config.encoding };
    // One delivery in twice the tolerance: after that its timestamp is too old.
    const namespace = `webhook:${tools.instanceId}`;
    const deliveries = tools.limits.bucket({ namespace, rate: 1 / (2 * tolerance + 1), burst: 0, zone });
    return {
      async access(context) {
        const { request, upstream } = context;
        const [timestamp = null, ...others] = request.headerValues(config.timestamp_header);
        // The backend could read another one than was signed.
        if (others.length > 0) return refuse(401, 'There are several timestamps');
        const problem = timestampProblem(timestamp, tolerance);
        if (problem !== null) return refuse(401, `The timestamp is ${problem}`);
        const sent = request.headerValues(config.signature_header);
        const given = sent.length === 1 && sent[0]?.startsWith(prefix) === true ? sent[0].slice(prefix.length) : null;
        const payload = [`${timestamp}.`, await context.body()];
        if (!verifyHmac({ ...scheme, secrets, signature: given, payload })) return refuse(401, 'Invalid signature');
        // Not the text of the client: a signature has several spellings.
        if (deliveries.take(signHmac(scheme, namespace, payload)) < 0) return refuse(409, 'Delivered already');
        upstream.setHeader('X-Webhook-Verified', 'true');
      },
      accessSkipped: ({ upstream }) => upstream.removeHeader('X-Webhook-Verified'),
    };
  },
});
