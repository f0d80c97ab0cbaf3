import { test } from 'node:test';
import hello from '../../../examples/plugins/hello/index.ts';
import visits from '../../../examples/plugins/visits/index.ts';
import cors from '../../plugins/cors/index.ts';
import keyAuth from '../../plugins/key-auth/index.ts';
import proxyCache from '../../plugins/proxy-cache/index.ts';
import rateLimiting from '../../plugins/rate-limiting/index.ts';
import responseTransformer from '../../plugins/response-transformer/index.ts';
import xmlJson from '../../plugins/xml-json/index.ts';
import { pluginContract, simpleConfig } from '../index.ts';

pluginContract(hello, { config: { banned: ['Bob'] } }, test);
// Nothing answers there: the plugin does without Redis.
pluginContract(visits, { config: { redis: { host: '127.0.0.1', port: 1 } } }, test);
pluginContract(
  cors,
  { config: { origins: ['https://a.test'], credentials: true }, request: { headers: { origin: 'https://a.test' } } },
  test,
);
pluginContract(
  keyAuth,
  {
    request: { headers: { apikey: 'secret' } },
    configure: (instance) => ({
      ...simpleConfig(instance),
      consumers: [{ username: 'ada', keyauth_credentials: [{ key: 'secret' }] }],
    }),
  },
  test,
);
pluginContract(rateLimiting, { config: { minute: 100_000, hour: 1_000_000, policy: 'local' } }, test);
pluginContract(
  responseTransformer,
  { config: { add: { headers: ['x-added:1'], json: ['added:true'] }, remove: { json: ['a'] } } },
  test,
);
pluginContract(proxyCache, { config: { strategy: 'memory', content_type: ['application/json', 'text/plain'] } }, test);
pluginContract(xmlJson, { config: { backend: 'xml', preferred: 'json' } }, test);
