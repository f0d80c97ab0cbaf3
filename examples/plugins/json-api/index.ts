import { addVary, mediaType, preferredType } from 'sluicegate/plugin-kit/http';
import {
  BodySyntaxError,
  isJsonNumber,
  isJsonObject,
  type JsonValue,
  jsonText,
  parseJson,
} from 'sluicegate/plugin-kit/json';
import { definePlugin, refuse } from 'sluicegate/plugin-sdk';

const jsonApi = 'application/vnd.api+json';

/** Gives the JSON of a backend the form of JSON:API, for clients that ask for it. */
export default definePlugin({
  name: 'json-api',
  version: '1.0.0',
  capabilities: [],
  priority: 89, // after caches have stored what the backend sent
  protocols: ['http', 'https'],
  config: ({ string }) => ({
    type: string({ required: true, match: /^[A-Za-z0-9_-]{1,64}$/, description: 'The `type` of the resources.' }),
    id: string({ required: true, default: 'id', len_max: 64, description: 'Member of an object that is its id.' }),
  }),
  needs: { responseBody: { mode: 'buffer', maxBytes: 1_048_576 } },
  setup({ type, id }) {
    function resource(value: JsonValue): JsonValue {
      const own = isJsonObject(value) && Object.hasOwn(value, id) ? value[id] : null;
      if (!isJsonObject(value) || !(typeof own === 'string' || isJsonNumber(own))) throw new TypeError('no resource');
      // Own members only, so that one called `__proto__` stays a member.
      const attributes = Object.fromEntries(Object.entries(value).filter(([name]) => name !== id));
      return { type, id: typeof own === 'string' ? own : jsonText(own), attributes };
    }
    return {
      headerFilter(context) {
        if (mediaType(context.response.header('content-type'))?.isJson === true) addVary(context.response, 'Accept');
      },
      shouldBufferResponse: ({ request, response }) =>
        preferredType(request.header('accept'), ['application/json', jsonApi]) === jsonApi &&
        mediaType(response.header('content-type'))?.type === 'application/json' &&
        ![204, 206, 304].includes(response.status) &&
        request.method !== 'HEAD',
      response({ response }) {
        try {
          const value = parseJson(response.body());
          const error = { status: String(response.status), title: 'Error', meta: { body: value } };
          const data = Array.isArray(value) ? value.map(resource) : null;
          const shaped = response.status >= 400 ? { errors: [error] } : { data: data ?? resource(value) };
          response.setBody(Buffer.from(jsonText(shaped)));
        } catch (error) {
          if (!(error instanceof BodySyntaxError || error instanceof TypeError)) throw error;
          return refuse(502, 'The backend sent what cannot be a resource');
        }
        response.setHeader('Content-Type', jsonApi);
        for (const name of ['ETag', 'Digest', 'Content-Digest']) response.removeHeader(name);
      },
    };
  },
});
