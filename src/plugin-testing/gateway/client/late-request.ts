import type { RunningRequest } from './contract.ts';

/** A request that is sent as soon as its client is loaded. What is done with it before happens then, in order. */
export function lateRequest(sent: Promise<RunningRequest>): RunningRequest {
  let last: Promise<unknown> = sent;
  const then = (work: (request: RunningRequest) => void): void => {
    last = last.then(() => sent.then(work));
    last.catch(() => {});
  };
  const head = sent.then((request) => request.head);
  const answer = sent.then((request) => request.answer);
  head.catch(() => {});
  answer.catch(() => {});
  return {
    head,
    answer,
    write: (piece) => then((request) => request.write(piece)),
    end: () => then((request) => request.end()),
    abort: () => then((request) => request.abort()),
  };
}
