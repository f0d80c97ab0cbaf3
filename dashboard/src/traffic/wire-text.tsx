import { useState } from 'react';
import { beginningOf, visibleText } from './visible-text.ts';

/** Characters of a value that are shown at first. */
const firstCharacters = 600;

interface WireTextProps {
  readonly text: string;
  /** Characters; a longer text ends in an ellipsis, without a button for the rest. */
  readonly max?: number;
  /** Characters before the button for the rest. */
  readonly first?: number;
}

/** Text that a client or a backend has sent. It is always written from left to right, so that no script moves its parts. */
export function WireText({ text, max, first = firstCharacters }: WireTextProps) {
  const [all, setAll] = useState(false);
  const limit = max ?? first;
  if (text.length <= limit || all) return <span className="wire">{visibleText(text)}</span>;
  return (
    <>
      <span className="wire">{visibleText(beginningOf(text, limit))}…</span>
      {max === undefined && (
        <button type="button" className="button tight" onClick={() => setAll(true)}>
          Show all {text.length.toLocaleString()} characters
        </button>
      )}
    </>
  );
}
