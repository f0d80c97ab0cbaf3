import { setTimeout as wait } from 'node:timers/promises';
import { probePlugin } from '../gateway/probe.fixture.ts';

const handlers: Readonly<Record<string, () => string>> = { 'text/html': () => 'html' };
let last = '';
let seen = 0;

/** Plugins with one mistake each, and the cases that must find it. */
export const planted = {
  'keeps a request in a variable of the module': {
    plugin: probePlugin(() => ({
      async access(context) {
        last = context.request.header('x-token') ?? '';
        await wait(1);
        context.upstream.setHeader('X-Last', last);
      },
    })),
    finds: 'many requests at once see only what is theirs',
  },
  'looks a foreign name up in an object': {
    plugin: probePlugin(() => ({
      access(context) {
        const accept = context.request.header('accept') ?? '';
        const handler = handlers[accept] as (() => string) | undefined;
        if (handler !== undefined) context.upstream.setHeader('X-Handled', handler());
      },
    })),
    finds: 'names that every object has, in headers, queries and bodies',
  },
  'parses a body without expecting anything else': {
    plugin: probePlugin(
      () => ({
        async access(context) {
          const body = await context.decodedBody();
          if (body.byteLength > 0) JSON.parse(Buffer.from(body).toString());
        },
      }),
      { requestBody: 4_000_000 },
    ),
    finds: 'bytes that are no UTF-8, and bodies that are not of their type',
  },
  'leaves a rejection to nobody': {
    plugin: probePlugin(() => ({
      access() {
        if (++seen % 5 === 0) void Promise.reject(new Error('nobody handles this'));
      },
    })),
    finds: 'plain requests over HTTP/1.1 and HTTP/2',
  },
  'throws when it is set up again': {
    plugin: probePlugin(() => ({
      dispose() {
        throw new Error('it cannot be disposed of');
      },
    })),
    finds: 'set up and disposed of again and again',
  },
  'decodes a path that clients choose': {
    plugin: probePlugin(() => ({
      access(context) {
        context.upstream.setHeader('X-Path', encodeURI(decodeURIComponent(context.request.query)));
      },
    })),
    finds: 'bytes above ASCII in paths, queries and headers',
  },
} as const;
