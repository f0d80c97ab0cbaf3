import { monotonic } from '../../../shared/util/time/clock.ts';
import type { Explained } from '../explained.ts';
import { addressText } from './attempts-part.ts';
import { causeText, causingPlugin, ofService, ofSettings, type Why } from './causes.ts';

const maxBodySize = 'nginx_http_client_max_body_size';

/** The node's limit, or that of a plugin that reads bodies. */
export function bodyTooLarge(explained: Explained): Why {
  const { x } = explained;
  if (x.bodyTaken) {
    const reader = x.plan.access.find(({ needs }) => needs.requestBody !== undefined)?.name ?? null;
    return {
      sentence: `The request body is larger than ${reader === null ? 'a plugin' : `the plugin ${reader}`} accepts.`,
      cause: causingPlugin(explained, reader),
    };
  }
  const size = x.head.bodyLength > 0 ? ` of ${x.head.bodyLength} bytes` : '';
  return {
    sentence: `The request body${size} is larger than ${maxBodySize} permits.`,
    cause: ofSettings(maxBodySize),
  };
}

/** The head of an answer is too large for the gateway, or its body for a plugin that changes it. */
export function answerTooLarge(explained: Explained): Why {
  const reader = explained.x.plan.response.find(({ needs }) => needs.responseBody?.mode === 'buffer');
  const isHead = causeText(explained) !== '';
  if (isHead || reader === undefined)
    return {
      sentence: `The answer of the backend is too large${causeText(explained)}.`,
      cause: ofService(explained, null),
    };
  return {
    sentence: `The answer of the backend is larger than the plugin ${reader.name} accepts.`,
    cause: causingPlugin(explained, reader.name),
  };
}

/** The client disconnected before it was answered: where the request was then. */
export function clientLeft(explained: Explained): Why {
  const { x, recorder } = explained;
  const left = `The client disconnected after ${(monotonic() - x.startedMono).toFixed(1)} ms`;
  if (x.upstreamStartedMono > 0 && x.targetIp !== '') {
    const backend = addressText(x.targetIp, x.targetPort);
    return {
      sentence: `${left}, while the backend at ${backend} had not answered.`,
      cause: ofService(explained, null),
    };
  }
  const running = recorder.spans.findLast(({ kind, end }) => kind === 'plugin' && end === 0)?.name ?? null;
  if (running === null) return { sentence: `${left}, before it was answered.`, cause: null };
  return {
    sentence: `${left}, while the plugin ${running} had not decided.`,
    cause: causingPlugin(explained, running),
  };
}
