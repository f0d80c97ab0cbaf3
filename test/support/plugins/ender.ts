import { definePlugin, httpProtocols } from '../../../src/plugin-sdk/index.ts';
import { endWorker } from './end-worker.ts';

/** Ends the worker that receives a request with the header `X-End-Worker`. */
export default definePlugin({
  name: 'ender',
  version: '1.0.0',
  priority: 3000,
  protocols: httpProtocols,
  schema: () => import('./empty-schema.ts'),
  setup: () => ({
    access({ request }) {
      if (request.header('x-end-worker') !== null) endWorker();
      return undefined;
    },
  }),
});
