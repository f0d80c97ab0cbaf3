import { isJsonObject, type JsonObject, type JsonValue } from '../../../../plugin-kit/json/json.ts';
import type { ExplainedAnswer } from '../../../../shared/explain/send-explained.ts';
import { canonicalIp } from '../../../../shared/util/net/ip-address.ts';
import type { AdminDependencies } from '../../contract.ts';
import { type AdminRequest, type AdminRoute, type Answer, ok } from '../../http/admin-route.ts';
import { plainError } from '../../http/http-error.ts';
import { refusing } from '../static-responses.ts';
import { readExplainRequest } from './explain-request.ts';
import { ExplainSender, type Unanswered } from './explain-sender.ts';

/** The body as JSON: 1 MiB in base64, or in text with many escaped characters, and the head. */
const maxBodySize = 8 * 1024 * 1024;

/** `POST /explain`: sends a request through this node, and answers with its answer and its explanation. */
export function explainRoutes({
  settings,
  requestKey,
  closing,
}: Pick<AdminDependencies, 'settings' | 'requestKey' | 'closing'>): readonly AdminRoute[] {
  const { requestDebug, requestDebugToken: token, workers } = settings;
  if (workers === 0) return [refusing('/explain', ['POST'], 'this node is a control plane and carries no traffic')];
  if (!requestDebug || token === null)
    return [refusing('/explain', ['POST'], 'request_debug is off, so the gateway explains no requests')];
  const sender = new ExplainSender({ settings, token, requestKey, closing });
  return [
    {
      path: '/explain',
      tag: 'traffic',
      maxBodySize,
      operations: {
        POST: {
          // It is a request like that of any client, from the caller's own address. Yet it may create what it creates.
          access: 'edit',
          handle: (request) => explain(sender, request),
          notes: {
            summary: 'Send a request through this node, and explain what happened to it',
            answer: 'entity',
            entity: 'explained_answer',
            bodyEntity: 'explain_request',
            takesBody: true,
            otherStatuses: [503],
          },
        },
      },
    },
  ];
}

async function explain(sender: ExplainSender, { body, trail, caller }: AdminRequest): Promise<Answer> {
  const request = readExplainRequest(body.value);
  const client = canonicalIp(trail.client);
  if (client === null) throw plainError(400, 'the address of the caller is unknown');
  return { ...ok(shown(await sender.send(request, caller, client))), headers: { 'cache-control': 'no-store' } };
}

function shown(answer: ExplainedAnswer | Unanswered): JsonObject {
  // It may have been carried out, so it leaves an audit record: the answer is a success.
  if ('problem' in answer) return { status: null, headers: {}, body: null, explanation: null, problem: answer.problem };
  const explanation = explanationOf(answer);
  if (explanation === null) {
    // Refused before it could be explained: overload, or a head that no request may have.
    const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, value ?? '']));
    const body = { text: answer.body.toString('utf8'), truncated: false };
    return { status: answer.status, headers: headers as JsonObject, body, explanation: null, problem: null };
  }
  const { body = null, ...rest } = objectIn(explanation, 'answer');
  const { status = null, headers = {} } = rest;
  return { status, headers, body, explanation: { ...explanation, answer: rest }, problem: null };
}

function explanationOf({ status, body }: ExplainedAnswer): JsonObject | null {
  if (status !== 200) return null;
  try {
    const value: JsonValue = JSON.parse(body.toString('utf8'));
    return isJsonObject(value) && value['explain'] === 1 ? value : null;
  } catch {
    return null;
  }
}

function objectIn(value: JsonObject, name: string): JsonObject {
  const member = value[name];
  return isJsonObject(member) ? member : {};
}
