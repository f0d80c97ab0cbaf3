import { bytesText } from '../format.ts';
import type { AnswerView, Explanation } from '../records.ts';
import { WireText } from '../wire-text.tsx';
import { BodyText, HeaderTable } from './request-message.tsx';

interface RequestAnswerProps {
  readonly answer: AnswerView;
  readonly explanation: Explanation;
}

/** The answer as the client received it. */
export function RequestAnswer({ answer, explanation }: RequestAnswerProps) {
  const { by, who, status, error, message, headers, trailers, body_bytes: bytes, complete } = answer;
  return (
    <section className="card" aria-labelledby="answer">
      <h2 id="answer">Answer</h2>
      <p className="mono small">
        {status ?? 'None'} <WireText text={by === 'nobody' ? '' : `by ${by}${who === null ? '' : ` ${who}`}`} />
      </p>
      {message !== null && (
        <p className="small">
          It says: <WireText text={message} />
        </p>
      )}
      {error !== null && (
        <p className="small">
          <code>{error.code}</code> <WireText text={error.message} />
          {error.cause !== null && (
            <>
              ; cause: <WireText text={error.cause} />
            </>
          )}
        </p>
      )}
      <HeaderTable headers={headers} name="Headers of the answer" />
      {trailers !== undefined && Object.keys(trailers).length > 0 && (
        <>
          <h3>Trailers</h3>
          <HeaderTable headers={trailers} name="Trailers" />
        </>
      )}
      <BodyText body={explanation.response?.body} headers={headers} />
      <p className="small muted">
        {bytesText(bytes)} of body{complete ? '' : '; it is not complete'}.
      </p>
    </section>
  );
}
