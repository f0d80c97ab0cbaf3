import { useState } from 'react';

/** Copies a text, and says so. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [said, setSaid] = useState('');
  return (
    <span className="row">
      <button
        type="button"
        className="button tight"
        aria-label={`Copy ${label}`}
        onClick={() =>
          void copyText(text).then(
            () => setSaid('Copied'),
            () => setSaid('Not copied: select the text'),
          )
        }
      >
        Copy
      </button>
      <span className="small muted" role="status">
        {said}
      </span>
    </span>
  );
}

/** Over plain HTTP, other than on loopback, browsers offer no clipboard. */
function copyText(text: string): Promise<void> {
  return navigator.clipboard === undefined
    ? Promise.reject(new Error('no clipboard'))
    : navigator.clipboard.writeText(text);
}
