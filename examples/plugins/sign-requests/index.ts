import { hash } from 'node:crypto';
import { signHmac } from 'sluicegate/plugin-kit/auth';
import { escapePath } from 'sluicegate/plugin-kit/http';
import { definePlugin } from 'sluicegate/plugin-sdk';

const scheme = { algorithm: 'sha256', encoding: 'hex' } as const;

/** Signs what the backend receives, so that it can refuse requests that did not come through the gateway. */
export default definePlugin({
  name: 'sign-requests',
  version: '1.0.0',
  capabilities: [],
  // After everything that changes the request.
  priority: 60,
  config: ({ integer, string }) => ({
    key_id: string({ required: true, match: /^[\w.-]{1,64}$/, description: 'Names the secret, for its rotation.' }),
    secret: string({
      required: true,
      len_min: 32,
      len_max: 1024,
      encrypted: true,
      referenceable: true,
      description: 'Secret that the gateway shares with the backend.',
    }),
    max_body: integer({
      required: true,
      default: 1_048_576,
      between: [0, 104_857_600],
      unit: 'bytes',
      description: 'Maximum size of a request body; the body is part of what is signed.',
    }),
  }),
  needs: ({ max_body: maxBytes }) => ({ requestBody: { maxBytes } }),
  setup({ key_id: keyId, secret }) {
    return {
      async access(context) {
        const { request, upstream } = context;
        // As the backend receives it: `decodedBody` would change its coding.
        const digest = hash('sha256', request.bodyLength === 0 ? '' : await context.body());
        const timestamp = String(Math.floor(Date.now() / 1000));
        // None of these can contain a line end, so that two requests never have the same text.
        const target = [escapePath(upstream.pathInService), upstream.query()];
        const signed = [keyId, timestamp, request.method, ...target, digest].join('\n');
        upstream.setHeader('X-Signature-Key', keyId);
        upstream.setHeader('X-Signature-Timestamp', timestamp);
        upstream.setHeader('X-Signature', signHmac(scheme, secret, signed));
      },
    };
  },
});
