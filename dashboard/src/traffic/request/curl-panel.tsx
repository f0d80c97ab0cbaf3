import { useSuspenseQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { nodeQuery } from '../../api/queries.ts';
import type { RequestView } from '../records.ts';
import { curlCommand } from './curl-command.ts';
import { proxyListener } from './proxy-address.ts';

/** The request as a curl command, which is copied when the panel opens. */
export function CurlPanel({ request }: { readonly request: RequestView }) {
  const { data: node } = useSuspenseQuery(nodeQuery);
  const { command, placeholders, missing } = useMemo(() => {
    const listener = proxyListener(node.configuration, request.scheme === 'https');
    return curlCommand(request, { host: location.hostname, port: listener?.port ?? request.connection.local_port });
  }, [request, node]);
  const text = useRef<HTMLPreElement>(null);
  const [copied, setCopied] = useState(false);

  function select(): void {
    const range = document.createRange();
    if (text.current === null) return;
    range.selectNodeContents(text.current);
    const selection = getSelection();
    selection?.removeAllRanges();
    selection?.addRange(range);
  }

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(command);
      setCopied(true);
    } catch {
      // Browsers copy only from pages of this machine or of HTTPS: the reader does it.
      select();
    }
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the panel opens
  useEffect(() => void copy(), []);
  return (
    <section className="card" aria-labelledby="curl">
      <h2 id="curl">As curl</h2>
      <pre className="code" ref={text}>
        {command}
      </pre>
      <p className="row small">
        <button type="button" className="button tight" onClick={() => void copy()}>
          Copy
        </button>
        <span role="status">{copied ? 'Copied.' : 'Copy the selected text.'}</span>
      </p>
      {placeholders.length > 0 && (
        <p className="banner">
          <span>
            Secrets are not recorded. Before you run it, replace{' '}
            {placeholders.map((placeholder, at) => (
              <span key={placeholder}>
                {at > 0 && ', '}
                <code>{placeholder}</code>
              </span>
            ))}
            .
          </span>
        </p>
      )}
      {missing.map((sentence) => (
        <p key={sentence} className="banner">
          {sentence}
        </p>
      ))}
    </section>
  );
}
