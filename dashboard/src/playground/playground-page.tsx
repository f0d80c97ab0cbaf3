import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { ApiError, call } from '../api/client.ts';
import { callerQuery, type Row } from '../api/queries.ts';
import { ErrorState, LoadingState } from '../components/states.tsx';
import { AnswerView } from './answer-view.tsx';
import type { ExplainedAnswer } from './explained.ts';
import { type Draft, draftOfRecord, emptyDraft, explainRequest, withHeaders } from './request-draft.ts';
import { RequestForm } from './request-form.tsx';
import './playground.css';
import { TokenMaker } from './tokens/token-maker.tsx';

/** Sends a request through the gateway, and shows its answer and why it was that. */
export function PlaygroundPage() {
  const { request, method, url } = useSearch({ from: '/playground' });
  if (request !== undefined) return <Replay key={request} id={request} />;
  const initial = { ...emptyDraft, method: method ?? emptyDraft.method, url: url ?? emptyDraft.url };
  return <Playground key={`${method} ${url}`} initial={initial} />;
}

/** Begins with a recorded request. */
function Replay({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['traffic', 'replay', id],
    queryFn: ({ signal }) => call<Row>('GET', `/traffic/${encodeURIComponent(id)}`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const initial = useMemo(() => (data === undefined ? null : draftOfRecord(data)), [data]);
  if (initial !== null) return <Playground initial={initial} />;
  if (error === null) return <LoadingState label="Loading the request" />;
  const gone = error instanceof ApiError && error.status === 404;
  if (!gone) return <ErrorState error={error} retry={() => void refetch()} />;
  return <Playground initial={{ ...emptyDraft, notes: ['That request is no longer among the recorded ones.'] }} />;
}

type Sending =
  | { readonly state: 'idle' | 'sending' }
  | { readonly state: 'answered'; readonly answer: ExplainedAnswer }
  | { readonly state: 'failed'; readonly error: unknown };

function Playground({ initial }: { readonly initial: Draft }) {
  const { data: caller } = useSuspenseQuery(callerQuery);
  const [draft, setDraft] = useState(initial);
  const [sending, setSending] = useState<Sending>({ state: 'idle' });
  const running = useRef<AbortController | null>(null);
  const outcome = useRef<HTMLDivElement>(null);
  useEffect(() => () => running.current?.abort(), []);
  // On a narrow screen the answer is below the form.
  useEffect(() => {
    if (sending.state === 'answered' || sending.state === 'failed')
      outcome.current?.scrollIntoView({ block: 'nearest' });
  }, [sending]);
  const maySend = caller.role !== 'read';

  async function send(): Promise<void> {
    const controller = new AbortController();
    running.current?.abort();
    running.current = controller;
    setSending({ state: 'sending' });
    try {
      const options = { body: explainRequest(draft), signal: controller.signal };
      setSending({ state: 'answered', answer: await call<ExplainedAnswer>('POST', '/explain', options) });
    } catch (error) {
      setSending(controller.signal.aborted ? { state: 'idle' } : { state: 'failed', error });
    }
  }

  return (
    <div className="stack playground">
      <div>
        <h1>Playground</h1>
        <p className="muted">
          Sends a request through this node, from your address, and explains what happened to it. It is really carried
          out.
        </p>
      </div>
      {!maySend && (
        <p className="banner">
          Your role may read, and a request may create what it creates: sending one needs the role edit.
        </p>
      )}
      <div className="playground-columns">
        <div className="stack">
          <RequestForm
            draft={draft}
            onChange={setDraft}
            problems={sending.state === 'failed' && sending.error instanceof ApiError ? sending.error.fields : {}}
            maySend={maySend}
            isSending={sending.state === 'sending'}
            onSend={() => void send()}
            onCancel={() => running.current?.abort()}
          />
          <TokenMaker draft={draft} onUse={(headers) => setDraft((before) => withHeaders(before, headers))} />
        </div>
        <div className="stack" ref={outcome}>
          <Outcome sending={sending} />
        </div>
      </div>
    </div>
  );
}

function Outcome({ sending }: { readonly sending: Sending }) {
  if (sending.state === 'answered') return <AnswerView answer={sending.answer} />;
  if (sending.state === 'failed') return <Failure error={sending.error} />;
  return (
    <section className="card card-pad" aria-label="Answer">
      {sending.state === 'sending' ? (
        <LoadingState label="Sending" />
      ) : (
        <p className="muted">The answer and its explanation appear here.</p>
      )}
    </section>
  );
}

function Failure({ error }: { readonly error: unknown }) {
  if (!(error instanceof ApiError)) {
    return (
      <section className="card">
        <ErrorState error={error} level={2} />
      </section>
    );
  }
  return (
    <section className="card card-pad stack" aria-labelledby="failure-title">
      <h2 id="failure-title">The request has no answer</h2>
      <p className="banner error" role="alert">
        {error.hint ?? error.message}
      </p>
    </section>
  );
}
